"""golden, drawn in Headrace.

failure_counts: real-time. Every step can run record by record.
lock: real-time. Every step can run record by record.

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


failures = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "failed-logins")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "account string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "failures.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.account").alias("account"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("failures", F.count("*").alias("rows"))
)

failure_counts = (
    failures.groupBy("account")
    .agg(F.count("*").alias("failures"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(failures)) = ''")
    .observe("failure_counts", F.count("*").alias("rows"))
)

write_failure_counts = (
    failure_counts.select(
        F.lit("headrace.golden.failure_counts.rows").alias("topic"),
        F.to_json(
            F.struct("account"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
        ).alias("key"),
        F.to_json(
            F.struct("account", "failures", "_version"),
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
    .option("checkpointLocation", CHECKPOINTS + "/failure_counts-5b85700d45")
    .queryName("failure_counts")
    .outputMode("update")
)

trusted = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "trusted-accounts")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "account string, trust boolean, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "trusted.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.account"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "account"
        ),
        F.col("json.trust").alias("trust"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("trusted", F.count("*").alias("rows"))
)

failure_counts_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.failure_counts.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.coalesce("value", "key").cast("string"),
            failure_counts.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("value").isNull().alias("_deleted"),
        F.expr("CAST(CAST(headers[0].value AS STRING) AS BIGINT)").alias("_version"),
        F.col("timestamp").alias("_arrived"),
    )
    .select("row.account", "row.failures", "_deleted", "_version", "_arrived")
)

joined = (
    state_operator(
        "JoinTables",
        failure_counts_received,
        trusted.select(
            "account", "trust", "_topic", "_partition", "_offset", "_arrived", "_deleted"
        ),
        on=[["account", "account"]],
        kind="left",
        arrived="_arrived",
        left={"deleted": "_deleted", "lane": ["account"], "version": ["_version"]},
        right={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.account"),
        F.col("left.failures"),
        F.col("right.trust"),
        F.col("_deleted"),
        F.col("_version"),
    )
    .observe("joined", F.count("*").alias("rows"))
)

score = joined.select(
    F.expr("account").alias("account"),
    F.expr("CASE WHEN trust THEN 0 ELSE failures END").alias("score"),
    F.col("_deleted"),
    F.col("_version"),
).observe("score", F.count("*").alias("rows"))

changes = (
    score.withColumn("_key", F.expr("CAST(account AS STRING)"))
    .withColumn("_group", F.xxhash64("_key"))
    .observe("changes", F.count("*").alias("rows"))
)

suspicious = changes.where("score >= 3").observe("suspicious", F.count("*").alias("rows"))

write_lock = (
    suspicious.select(
        F.lit("lock-accounts").alias("topic"),
        F.col("account").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("account", "score"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_group", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("lock", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/joined-715410e43c")
    .queryName("lock")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_failure_counts.trigger(availableNow=True).start().awaitTermination()
write_lock.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_failure_counts.trigger(realTime="2 minutes").start()
write_lock.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
