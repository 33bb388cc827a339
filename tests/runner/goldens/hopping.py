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

stats = (
    orders.observe(
        "stats.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 5000) + 10000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "1 minute")
    .groupBy(F.window("_timestamp", "10 seconds", "5 seconds"), "customer")
    .agg(
        F.count("*").alias("n"),
        F.sum(F.expr("amount")).alias("total"),
        F.min(F.expr("amount")).alias("low"),
        F.max(F.expr("amount")).alias("high"),
        F.avg(F.expr("amount")).alias("mean"),
        F.percentile(F.expr("amount"), 0.5).alias("half"),
        F.stddev(F.expr("amount")).alias("spread"),
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), min_by(order, _offset), min_by(order, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("earliest"),
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), max_by(order, _offset), max_by(order, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("newest"),
        F.approx_count_distinct(F.expr("amount")).alias("kinds"),
        F.expr(
            "array_compact(if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), sort_array(transform(collect_list(struct(_arrived, _topic, _partition, _offset, order AS value)), row -> struct(row._offset, row.value))).value, sort_array(collect_list(struct(_arrived, _topic, _partition, _offset, order AS value))).value))"
        ).alias("list"),
        F.collect_set(F.expr("order")).alias("set"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where(
        "_version > 0 OR to_json(struct(n, total, low, high, mean, half, spread, earliest, newest, kinds, list, set)) = ''"
    )
    .observe("stats", F.count("*").alias("rows"))
)

write_out = (
    stats.select(
        F.lit("order-stats").alias("topic"),
        F.to_json(F.struct("window", "customer"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(
            F.struct(
                "window",
                "customer",
                "n",
                "total",
                "low",
                "high",
                "mean",
                "half",
                "spread",
                "earliest",
                "newest",
                "kinds",
                "list",
                "set",
            ),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "customer", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/stats-758415d20f")
    .queryName("out")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_out.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
