"""golden, drawn in Headrace.

out: real-time. Every step can run record by record.
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

customers = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "moving-customers")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "customer string, country string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "customers.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.customer"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "customer"
        ),
        F.col("json.country").alias("country"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("customers", F.count("*").alias("rows"))
)

countries = (
    spark.read.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "countries")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "code string, name string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.code"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "code"
        ),
        F.col("json.name").alias("name"),
        F.col("key").cast("string").alias("_key"),
        F.col("offset").alias("_offset"),
        F.col("value").isNull().alias("_deleted"),
    )
    .groupBy("code")
    .agg(F.max_by(F.struct("code", "name", "_key", "_deleted"), "_offset").alias("newest"))
    .where("NOT newest._deleted")
    .select("newest.code", "newest.name", "newest._key")
    .observe("countries", F.count("*").alias("rows"))
)

named = (
    customers.alias("left")
    .join(
        F.broadcast(countries.withColumn("_found", F.lit(True)).alias("right")),
        F.expr("left.country = right.code"),
        "left",
    )
    .select(
        F.col("left.customer"),
        F.col("left.country"),
        F.col("left._key"),
        F.col("left._timestamp"),
        F.col("left._topic"),
        F.col("left._partition"),
        F.col("left._offset"),
        F.col("left._arrived"),
        F.col("right.code"),
        F.col("right.name"),
        F.expr("left._deleted OR right._found IS NULL").alias("_deleted"),
    )
    .observe("named", F.count("*").alias("rows"))
)

out = (
    named.select(
        F.lit("customers-with-country").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(
                F.struct("customer", "country", "code", "name"), {"ignoreNullFields": "false"}
            ),
        ).alias("value"),
        F.when(F.col("customer").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/out-53c512f50c")
    .queryName("out")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
