"""golden, drawn in Headrace.

per_customer: real-time. Every step can run record by record.
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

per_customer = (
    orders.groupBy("customer")
    .agg(
        F.count("*").alias("orders"),
        F.sum(F.expr("amount")).alias("spent"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(orders, spent)) = ''")
    .observe("per_customer", F.count("*").alias("rows"))
)

out = F.struct(
    F.lit("per-customer").alias("topic"),
    F.col("customer").cast("string").alias("key"),
    F.to_json(F.struct("customer", "orders", "spent"), {"ignoreNullFields": "false"}).alias(
        "value"
    ),
    F.when(F.col("customer").isNull(), 0).alias("partition"),
    F.array(
        F.struct(
            F.lit("headrace.id").alias("key"),
            F.to_json(F.struct("customer", "_version")).cast("binary").alias("value"),
        )
    ).alias("headers"),
)

seen = F.struct(
    F.lit("headrace.golden.seen.console").alias("topic"),
    F.lit(None).cast("string").alias("key"),
    F.to_json(
        F.struct(
            F.col("customer"),
            F.col("orders"),
            F.col("spent"),
            F.expr("NOT COALESCE(spent > 1000, FALSE)").alias("_deleted"),
        ),
        {"ignoreNullFields": "false"},
    ).alias("value"),
    F.lit(None).cast("int").alias("partition"),
    F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
)

# One query writes out, seen, so that its rows are read once.
write_per_customer = (
    per_customer.observe("good", F.count("*").alias("rows"))
    .observe("out", F.count("*").alias("rows"))
    .observe("seen", F.count("*").alias("rows"))
    .select(F.explode(F.array_compact(F.array(out, seen))).alias("record"))
    .select("record.*")
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_customer-a94f945c48")
    .queryName("per_customer")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_per_customer.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_per_customer.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
