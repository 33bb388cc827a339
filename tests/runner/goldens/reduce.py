"""golden, drawn in Headrace.

balances: real-time. Every step can run record by record.
highest: real-time. Every step can run record by record.

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


bookings = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "bookings")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "account string, kind string, amount int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "bookings.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.account").alias("account"),
        F.col("json.kind").alias("kind"),
        F.col("json.amount").alias("amount"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("bookings", F.count("*").alias("rows"))
)

balance = state_operator(
    "Reduce",
    bookings,
    group_by=["account"],
    initial="CAST(0 AS BIGINT)",
    expression="acc + CASE WHEN kind = 'in' THEN amount ELSE -amount END",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("balance", F.count("*").alias("rows"))

write_balances = (
    balance.select(
        F.lit("balances").alias("topic"),
        F.col("account").cast("string").alias("key"),
        F.to_json(F.struct("account", "acc"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("account").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("account", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("balances", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/balance-d04ae21988")
    .queryName("balances")
    .outputMode("update")
)

paid_in = bookings.where("kind = 'in'").observe("paid_in", F.count("*").alias("rows"))

most = state_operator(
    "Reduce",
    paid_in,
    group_by=["account"],
    initial="0",
    expression="greatest(acc, amount)",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("most", F.count("*").alias("rows"))

write_highest = (
    most.select(
        F.lit("highest-payments").alias("topic"),
        F.col("account").cast("string").alias("key"),
        F.to_json(F.struct("account", "acc"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("account").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("account", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("highest", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/most-a4ea1c46fb")
    .queryName("highest")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_balances.trigger(availableNow=True).start(),
    write_highest.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_balances.trigger(realTime="2 minutes").start()
write_highest.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
