"""golden, drawn in Headrace.

out: micro-batch. Merge (both) runs in batches: its inputs come from Orders by two ways, and real-time reads it once.
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

# Orders
orders = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "order bigint, customer string, amount double, items array<string>, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "orders.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.order").alias("order"),
        F.col("json.customer").alias("customer"),
        F.col("json.amount").alias("amount"),
        F.col("json.items").alias("items"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("orders", F.count("*").alias("rows"))
)

split = orders.withColumn(
    "_branch", F.when(F.expr("amount >= 100"), "big").otherwise("otherwise")
).observe("split", F.count("*").alias("rows"))

marked = (
    split.where(F.col("_branch") == "big")
    .withColumns({"mark": F.expr("'big'")})
    .observe("marked", F.count("*").alias("rows"))
)

both = (
    marked.withColumns(
        {
            "_way": F.lit("0"),
            "_lane": F.to_json(F.struct("_topic", "_partition")),
            "_version": F.col("_offset"),
        }
    )
    .unionByName(
        split.where(F.col("_branch") == "otherwise").withColumns(
            {
                "_way": F.lit("1"),
                "_lane": F.to_json(F.struct("_topic", "_partition")),
                "_version": F.col("_offset"),
            }
        ),
        allowMissingColumns=True,
    )
    .observe("both", F.count("*").alias("rows"))
)

out = (
    both.select(
        F.lit("order-events").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "amount", "items", "at", "mark"),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_way", "_lane", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/out-e3f9661c51")
    .queryName("out")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
