"""golden, drawn in Headrace.

report: real-time. Every step can run record by record.
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

cars = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "bridge-cars")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "plate string, people int, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "cars.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.plate").alias("plate"),
        F.col("json.people").alias("people"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("cars", F.count("*").alias("rows"))
)

traffic = (
    cars.observe(
        "traffic.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 300000) + 600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "1 hour")
    .groupBy(F.window("_timestamp", "10 minutes", "5 minutes"))
    .agg(
        F.count("*").alias("cars"),
        F.sum(F.expr("people")).alias("people"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(cars, people)) = ''")
    .observe("traffic", F.count("*").alias("rows"))
)

write_report = (
    traffic.select(
        F.lit("bridge-traffic").alias("topic"),
        F.to_json(F.struct("window"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(F.struct("window", "cars", "people"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/traffic-a54ac51dd4")
    .queryName("report")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_report.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_report.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
