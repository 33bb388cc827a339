"""golden, drawn in Headrace.

report: real-time. Every step can run record by record.

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


budgets = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "team-budgets")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "team string, budget int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "budgets.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.team"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "team"
        ),
        F.col("json.budget").alias("budget"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("budgets", F.count("*").alias("rows"))
)

spending = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "team-spending")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "team string, spent int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "spending.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.team"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "team"
        ),
        F.col("json.spent").alias("spent"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("spending", F.count("*").alias("rows"))
)

either = (
    state_operator(
        "JoinTables",
        budgets.select("team", "budget", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        spending.select("team", "spent", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        on=[["team", "team"]],
        kind="full",
        arrived="_arrived",
        left={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
        right={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.coalesce(F.col("left.team"), F.col("right.team")).alias("team"),
        F.col("left.budget"),
        F.col("right.spent"),
        F.col("_deleted"),
        F.col("_version"),
    )
    .observe("either", F.count("*").alias("rows"))
)

told = either.withColumns(
    {
        "remaining": F.expr("coalesce(budget, 0) - coalesce(spent, 0)"),
        "has": F.expr(
            "CASE WHEN budget IS NULL THEN 'no budget' WHEN spent IS NULL THEN 'no spending' ELSE 'both' END"
        ),
    }
).observe("told", F.count("*").alias("rows"))

write_report = (
    told.select(
        F.lit("team-report").alias("topic"),
        F.col("team").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(
                F.struct("team", "budget", "spent", "remaining", "has"),
                {"ignoreNullFields": "false"},
            ),
        ).alias("value"),
        F.when(F.col("team").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("team", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/either-a293cf8d6a")
    .queryName("report")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_report.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_report.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
