"""golden, drawn in Headrace.

out_customers: real-time. Every step can run record by record.
out_all: real-time. Every step can run record by record.
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
    .agg(F.count("*").alias("orders"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(orders)) = ''")
    .observe("per_customer", F.count("*").alias("rows"))
)

write_out_customers = (
    per_customer.select(
        F.lit("per-customer").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.to_json(F.struct("customer", "orders"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("customer").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("customer", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out_customers", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_customer-23474e45fc")
    .queryName("out_customers")
    .outputMode("update")
)

all_orders = (
    orders.groupBy(F.lit("all").alias("_all"))
    .agg(
        F.count("*").alias("orders"),
        F.percentile(F.expr("amount"), 0.5).alias("median"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(orders, median)) = ''")
    .observe("all_orders", F.count("*").alias("rows"))
)

write_out_all = (
    all_orders.select(
        F.lit("all-orders").alias("topic"),
        F.lit("{}").alias("key"),
        F.to_json(F.struct("orders", "median"), {"ignoreNullFields": "false"}).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_all", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out_all", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/all_orders-f8d0010bbc")
    .queryName("out_all")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_out_customers.trigger(availableNow=True).start(),
    write_out_all.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_out_customers.trigger(realTime="2 minutes").start()
write_out_all.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
