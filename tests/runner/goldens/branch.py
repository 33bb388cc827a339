"""golden, drawn in Headrace.

by_size: real-time. Every step can run record by record.
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

by_size = orders.withColumn(
    "_branch",
    F.when(F.expr("amount >= 100"), "big")
    .when(F.expr("amount > 0"), "small")
    .otherwise("otherwise"),
).observe("by_size", F.count("*").alias("rows"))

# Big ones
big_orders = F.when(
    F.expr("_branch = 'big'"),
    F.struct(
        F.lit("big-orders").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "amount", "items", "at"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ),
)

odd_orders = F.when(
    F.expr("_branch = 'otherwise'"),
    F.struct(
        F.coalesce(
            F.expr("concat('odd-', coalesce(customer, 'nobody'))"),
            F.raise_error(
                "step odd_orders: A row has no topic, its expression is null. Use coalesce."
            ),
        ).alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "amount", "items", "at"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("why").alias("key"),
                F.expr("_branch").cast("string").cast("binary").alias("value"),
            ),
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            ),
        ).alias("headers"),
    ),
)

small_orders = F.when(
    F.expr("_branch = 'small'"),
    F.struct(
        F.lit("small-orders").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.to_json(
            F.struct("order", F.expr("CAST(amount * 100 AS BIGINT)").alias("cents")),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ),
)

# One query writes big_orders, odd_orders, small_orders, so that its rows are read once.
(
    by_size.observe("priced", F.count_if(F.expr("_branch = 'small'")).alias("rows"))
    .observe("big_orders", F.count_if(F.expr("_branch = 'big'")).alias("rows"))
    .observe("odd_orders", F.count_if(F.expr("_branch = 'otherwise'")).alias("rows"))
    .observe("small_orders", F.count_if(F.expr("_branch = 'small'")).alias("rows"))
    .select(
        F.explode(F.array_compact(F.array(big_orders, odd_orders, small_orders))).alias("record")
    )
    .select("record.*")
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/by_size-e3f9661c51")
    .queryName("by_size")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
