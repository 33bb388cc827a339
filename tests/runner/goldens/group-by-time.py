"""golden, drawn in Headrace.

shows: real-time. Every step can run record by record.
halls: micro-batch. Aggregate (per_hall) runs in batches: its results come once, when their window has closed.
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

tickets = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "tickets")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "show timestamp, seats int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "tickets.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.show").alias("show"),
        F.col("json.seats").alias("seats"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.show"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("tickets", F.count("*").alias("rows"))
)

per_show = (
    tickets.observe(
        "per_show.windows",
        F.expr(
            "approx_top_k(unix_millis(show) - pmod(unix_millis(show), 3600000) + 3600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("show", "1 minute")
    .groupBy(
        F.window("show", "1 hour"), F.expr("timestamp_micros(unix_micros(show))").alias("show")
    )
    .agg(F.sum(F.expr("seats")).alias("seats"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(seats)) = ''")
    .observe("per_show", F.count("*").alias("rows"))
)

write_shows = (
    per_show.select(
        F.lit("shows").alias("topic"),
        F.to_json(F.struct("window", "show"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(F.struct("window", "show", "seats"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "show", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("shows", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_show-02647d9f69")
    .queryName("shows")
    .outputMode("update")
)

per_hall = (
    tickets.observe(
        "per_hall.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 3600000) + 3600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "1 minute")
    .groupBy(
        F.window("_timestamp", "1 hour"),
        "_key",
        F.expr("timestamp_micros(unix_micros(_timestamp))").alias("_timestamp"),
    )
    .agg(F.count("*").alias("tickets"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(tickets)) = ''")
    .withColumns(
        {
            "_key": F.to_json(
                F.struct("window", "_key", "_timestamp"), {"ignoreNullFields": "false"}
            ),
            "_timestamp": F.col("window").getField("end"),
        }
    )
    .withColumn("_group", F.xxhash64("_key"))
    .observe("per_hall", F.count("*").alias("rows"))
)

halls = (
    per_hall.select(
        F.lit("halls").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(F.struct("window", "tickets"), {"ignoreNullFields": "false"}).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_group", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("halls", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/per_hall-43a26fd382")
    .queryName("halls")
    .outputMode("append")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_shows.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_shows.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
