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

# Customers
customers = (
    spark.read.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "customers")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "id string, name string, amount double, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.id"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias("id"),
        F.col("json.name").alias("name"),
        F.col("json.amount").alias("amount"),
        F.col("key").cast("string").alias("_key"),
        F.col("offset").alias("_offset"),
        F.col("value").isNull().alias("_deleted"),
    )
    .groupBy("id")
    .agg(F.max_by(F.struct("id", "name", "amount", "_key", "_deleted"), "_offset").alias("newest"))
    .where("NOT newest._deleted")
    .select("newest.id", "newest.name", "newest.amount", "newest._key")
    .observe("customers", F.count("*").alias("rows"))
)

named = (
    orders.alias("left")
    .join(F.broadcast(customers.alias("right")), F.expr("left.customer = right.id"), "left")
    .select(
        F.col("left.order"),
        F.col("left.customer"),
        F.col("left.amount"),
        F.col("left.items"),
        F.col("left.at"),
        F.col("left._key"),
        F.col("left._timestamp"),
        F.col("left._topic"),
        F.col("left._partition"),
        F.col("left._offset"),
        F.col("left._arrived"),
        F.col("right.id"),
        F.col("right.name"),
        F.col("right.amount").alias("limit_amount"),
    )
    .observe("named", F.count("*").alias("rows"))
)

out = (
    named.select(
        F.lit("named-orders").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "amount", "items", "at", "id", "name", "limit_amount"),
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
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/out-e3f9661c51")
    .queryName("out")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
