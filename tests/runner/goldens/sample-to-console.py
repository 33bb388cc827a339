"""golden, drawn in Headrace.

seen: micro-batch. Ticks (ticks) runs in batches: Spark makes sample rows in batches only.
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
CONNECTIONS = {}

# Ticks
ticks = (
    spark.readStream.format("rate")
    .option("rowsPerSecond", 5)
    .load()
    .select(
        F.expr("value").alias("n"),
        F.expr("value % 2 = 0").alias("even"),
        F.lit(None).cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("value").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("ticks", F.count("*").alias("rows"))
)

evens = ticks.where("even").observe("evens", F.count("*").alias("rows"))


def write_evens(batch, batch_id):
    # The batch is read once, whole, and kept while every sink reads it.
    evens = batch.persist()
    evens.count()

    for (line,) in (
        evens.select(
            F.concat(
                F.lit('{"step": "seen", "row": '),
                F.to_json(F.struct(F.col("n"), F.col("even")), {"ignoreNullFields": "false"}),
                F.lit("}"),
            )
        )
        .limit(20)
        .collect()
    ):
        print(line)
    print('{"step": "seen", "rows": ' + str(evens.count()) + "}")
    evens.unpersist()


(
    evens.writeStream.foreachBatch(write_evens)
    .option("checkpointLocation", CHECKPOINTS + "/seen-4762ed2824")
    .queryName("seen")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
