"""golden, drawn in Headrace.

paid_orders: real-time. Every step can run record by record.

Its state operators are in headrace-operators.jar, which Headrace serves;
give it to spark-submit by --jars, beside Spark's connector to Kafka.
"""

import json
from pyspark.sql import DataFrame, SparkSession, functions as F

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


def state_operator(name, *inputs, **options):
    """The rows of one of the state operators in headrace-operators.jar."""
    java = getattr(spark._jvm.headrace, name)
    rows = java.apply([given._jdf for given in inputs], json.dumps(options))
    return DataFrame(rows, spark)


orders = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "placed-orders")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "order int, customer string, ordered_at timestamp, _corrupt_record string",
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
        F.col("json.ordered_at").alias("ordered_at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.ordered_at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("orders", F.count("*").alias("rows"))
)

payments = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "order-payments")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "order int, method string, paid_at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "payments.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.order").alias("order"),
        F.col("json.method").alias("method"),
        F.col("json.paid_at").alias("paid_at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.paid_at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("payments", F.count("*").alias("rows"))
)

paid = (
    state_operator(
        "JoinStreams",
        orders,
        payments,
        on=[["order", "order"]],
        kind="inner",
        left_time="_timestamp",
        right_time="_timestamp",
        before=300000,
        after=3600000,
        grace=10800000,
    )
    .select(
        F.col("left.order"),
        F.col("left.customer"),
        F.col("left.ordered_at"),
        F.col("right.method"),
        F.col("right.paid_at"),
        F.col("_timestamp"),
        F.coalesce(F.col("left._key"), F.col("right._key")).alias("_key"),
        F.col("left._topic").alias("_left_topic"),
        F.col("left._partition").alias("_left_partition"),
        F.col("left._offset").alias("_left_offset"),
        F.col("right._topic").alias("_right_topic"),
        F.col("right._partition").alias("_right_partition"),
        F.col("right._offset").alias("_right_offset"),
    )
    .observe("paid", F.count("*").alias("rows"))
)

write_paid_orders = (
    paid.select(
        F.lit("paid-orders").alias("topic"),
        F.col("order").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "ordered_at", "method", "paid_at"),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(
                    F.struct(
                        "_left_topic",
                        "_left_partition",
                        "_left_offset",
                        "_right_topic",
                        "_right_partition",
                        "_right_offset",
                    )
                )
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("paid_orders", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/paid-fc3d5a8e54")
    .queryName("paid_orders")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_paid_orders.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_paid_orders.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
