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

lines = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "lines")
    .option("startingOffsets", "earliest")
    .load()
    .select(
        F.col("value").cast("string").alias("value"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("lines", F.count("*").alias("rows"))
)

words = lines.select(
    "*", F.posexplode(F.expr("split(lower(value), '\\\\W+')")).alias("_place_of_word", "word")
).observe("words", F.count("*").alias("rows"))

not_empty = words.where("word <> ''").observe("not_empty", F.count("*").alias("rows"))

counts = (
    not_empty.groupBy("word")
    .agg(F.count("*").alias("count"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(count)) = ''")
    .observe("counts", F.count("*").alias("rows"))
)

write_out = (
    counts.select(
        F.lit("word-counts").alias("topic"),
        F.col("word").cast("string").alias("key"),
        F.to_json(F.struct("word", "count"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("word").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("word", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/counts-4cca06e3ef")
    .queryName("out")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_out.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
