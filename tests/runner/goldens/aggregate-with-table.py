"""golden, drawn in Headrace.

spent_so_far: real-time. Every step can run record by record.
over_limit: real-time. Every step can run record by record.

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


payments = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "card-payments")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "customer string, amount int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "payments.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.customer").alias("customer"),
        F.col("json.amount").alias("amount"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("payments", F.count("*").alias("rows"))
)

spent_so_far = (
    payments.groupBy("customer")
    .agg(F.sum(F.expr("amount")).alias("spent"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(spent)) = ''")
    .observe("spent_so_far", F.count("*").alias("rows"))
)

write_spent_so_far = (
    spent_so_far.select(
        F.lit("headrace.golden.spent_so_far.rows").alias("topic"),
        F.to_json(
            F.struct("customer"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
        ).alias("key"),
        F.to_json(
            F.struct("customer", "spent", "_version"),
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("version").alias("key"),
                F.col("_version").cast("string").cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/spent_so_far-63e2b259ff")
    .queryName("spent_so_far")
    .outputMode("update")
)

limits = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "card-limits")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "customer string, allowed int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "limits.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.customer"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "customer"
        ),
        F.col("json.allowed").alias("allowed"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("limits", F.count("*").alias("rows"))
)

spent_so_far_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.spent_so_far.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.coalesce("value", "key").cast("string"),
            spent_so_far.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("value").isNull().alias("_deleted"),
        F.expr("CAST(CAST(headers[0].value AS STRING) AS BIGINT)").alias("_version"),
        F.col("timestamp").alias("_arrived"),
    )
    .select("row.customer", "row.spent", "_deleted", "_version", "_arrived")
)

compared = (
    state_operator(
        "JoinTables",
        spent_so_far_received,
        limits.select(
            "customer", "allowed", "_topic", "_partition", "_offset", "_arrived", "_deleted"
        ),
        on=[["customer", "customer"]],
        kind="inner",
        arrived="_arrived",
        left={"deleted": "_deleted", "lane": ["customer"], "version": ["_version"]},
        right={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.customer"),
        F.col("left.spent"),
        F.col("right.allowed"),
        F.col("_deleted"),
        F.col("_version"),
    )
    .observe("compared", F.count("*").alias("rows"))
)

too_much = compared.withColumn(
    "_deleted", F.expr("_deleted OR NOT COALESCE(spent > allowed, FALSE)")
).observe("too_much", F.count("*").alias("rows"))

write_over_limit = (
    too_much.select(
        F.lit("over-limit").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("customer", "spent", "allowed"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.when(F.col("customer").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("customer", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("over_limit", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/compared-785bd3f3b6")
    .queryName("over_limit")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_spent_so_far.trigger(availableNow=True).start().awaitTermination()
write_over_limit.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_spent_so_far.trigger(realTime="2 minutes").start()
write_over_limit.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
