"""golden, drawn in Headrace.

looked_at: real-time. Every step can run record by record.
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

parcels = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "parcels")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "parcel bigint, city string, kilos double, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "parcels.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.parcel").alias("parcel"),
        F.col("json.city").alias("city"),
        F.col("json.kilos").alias("kilos"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("parcels", F.count("*").alias("rows"))
)

looked_at = parcels.observe("looked_at", F.count("*").alias("rows"))

looked_at_shown = F.struct(
    F.lit("headrace.golden.looked_at.console").alias("topic"),
    F.lit(None).cast("string").alias("key"),
    F.to_json(
        F.struct(F.col("parcel"), F.col("city"), F.col("kilos")), {"ignoreNullFields": "false"}
    ).alias("value"),
    F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
)

routes = F.struct(
    F.lit("parcels-by-city").alias("topic"),
    F.expr("CAST(city AS STRING)").alias("_key").cast("string").alias("key"),
    F.to_json(F.struct("parcel", "city", "kilos"), {"ignoreNullFields": "false"}).alias("value"),
    F.array(
        F.struct(
            F.lit("headrace.id").alias("key"),
            F.to_json(F.struct("_topic", "_partition", "_offset")).cast("binary").alias("value"),
        )
    ).alias("headers"),
)

# One query writes looked_at_shown, routes, so that its rows are read once.
(
    looked_at.observe("by_city", F.count("*").alias("rows"))
    .observe("routes", F.count("*").alias("rows"))
    .select(F.explode(F.array_compact(F.array(looked_at_shown, routes))).alias("record"))
    .select("record.*")
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/looked_at-b8826d6cc6")
    .queryName("looked_at")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
