"""golden, drawn in Headrace.

roof: micro-batch. SQL (roof) runs in batches: what follows it can't be written by one query, so each batch is kept and shared.
"""

from pyspark.sql import SparkSession, functions as F

spark = (
    SparkSession.builder.appName("golden")
    .config("spark.sql.variable.substitute", "false")
    .config("spark.sql.runSQLOnFiles", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.datetime.java8API.enabled", "true")
    .config("spark.sql.shuffle.partitions", "2")
    .config(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    .config("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    .config(
        "spark.sql.streaming.checkpointFileManagerClass",
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    )
    .config("spark.shuffle.streaming.networkBufferSize", "16")
    .config("spark.shuffle.streaming.networkBufferMaxWaitTimeMs", "100")
    .config("spark.shuffle.streaming.writerMaxMemory", "2097152")
    .config("spark.executor.heartbeatInterval", "1s")
    .getOrCreate()
)
CHECKPOINTS = spark.conf.get("spark.headrace.checkpoints", "checkpoints/golden")
CONNECTIONS = {
    "local": {
        "kafka.bootstrap.servers": spark.conf.get(
            "spark.headrace.connection.local", "127.0.0.1:9092"
        )
    },
}

readings = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "roof-readings")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "sensor string, celsius double, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "readings.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.sensor").alias("sensor"),
        F.col("json.celsius").alias("celsius"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("readings", F.count("*").alias("rows"))
)

roof = readings.sparkSession.sql(
    "SELECT sensor, celsius * 9 / 5 + 32 AS fahrenheit, CASE WHEN celsius >= 30 THEN 'hot' ELSE 'fine' END AS feel, `_key`, `_timestamp`, `_topic`, `_partition`, `_offset`, `_arrived` FROM {rows} AS `rows` WHERE celsius IS NOT NULL AND sensor LIKE 'roof-%'",
    rows=readings,
).observe("roof", F.count("*").alias("rows"))


def write_roof(batch, batch_id):
    # The batch is read once, whole, and kept while every sink reads it.
    roof = batch.persist()
    roof.count()

    sentences = roof.sparkSession.sql(
        "SELECT sensor, fahrenheit, concat(sensor, ' is ', feel) AS sentence, `_key`, `_timestamp`, `_topic`, `_partition`, `_offset`, `_arrived` FROM {felt} AS `felt` WHERE feel <> 'fine'",
        felt=roof,
    )
    print('{"step": "sentences", "rows": ' + str(sentences.count()) + "}")

    roof.select(
        F.lit("roof-in-fahrenheit").alias("topic"),
        F.col("sensor").cast("string").alias("key"),
        F.to_json(F.struct("sensor", "fahrenheit", "feel"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ).write.format("kafka").options(**CONNECTIONS["local"]).save()
    print('{"step": "all_readings", "rows": ' + str(roof.count()) + "}")

    sentences.select(
        F.lit("roof-warnings").alias("topic"),
        F.col("sensor").cast("string").alias("key"),
        F.to_json(
            F.struct("sensor", "fahrenheit", "sentence"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ).write.format("kafka").options(**CONNECTIONS["local"]).save()
    print('{"step": "warnings", "rows": ' + str(sentences.count()) + "}")
    roof.unpersist()


(
    roof.writeStream.foreachBatch(write_roof)
    .option("checkpointLocation", CHECKPOINTS + "/roof-e31d208ce8")
    .queryName("roof")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
