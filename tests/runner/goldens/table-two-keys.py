"""golden, drawn in Headrace.

plan: real-time. Every step can run record by record.
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

shelves = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "shelves")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "shop string, shelf int, product string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "shelves.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(
            F.col("json.shop"),
            F.from_json(F.col("key").cast("string"), "shop string").getField("shop"),
        ).alias("shop"),
        F.coalesce(
            F.col("json.shelf"),
            F.from_json(F.col("key").cast("string"), "shelf int").getField("shelf"),
        ).alias("shelf"),
        F.col("json.product").alias("product"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("shelves", F.count("*").alias("rows"))
)

labelled = shelves.withColumns(
    {"label": F.expr("concat(shop, '-', shelf, ': ', product)")}
).observe("labelled", F.count("*").alias("rows"))

plan = (
    labelled.select(
        F.lit("shelf-plan").alias("topic"),
        F.to_json(F.struct("shop", "shelf"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("shop", "shelf", "product", "label"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("plan", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/plan-64c9dc26e1")
    .queryName("plan")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
