"""golden, drawn in Headrace.

action_counts: real-time. Every step can run record by record.
ask: real-time. Every step can run record by record.
actions_dead_letters: micro-batch. Records that can't be read are put aside once a second.
solved_dead_letters: micro-batch. Records that can't be read are put aside once a second.

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


actions = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "browser-actions")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "browser string, action string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.browser").alias("browser"),
        F.col("json.action").alias("action"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("actions", F.count("*").alias("rows"))
)

action_counts = (
    actions.groupBy("browser")
    .agg(F.count("*").alias("actions"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(actions)) = ''")
    .observe("action_counts", F.count("*").alias("rows"))
)

write_action_counts = (
    action_counts.select(
        F.lit("headrace.golden.action_counts.rows").alias("topic"),
        F.to_json(
            F.struct("browser"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
        ).alias("key"),
        F.to_json(
            F.struct("browser", "actions", "_version"),
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
    .option("checkpointLocation", CHECKPOINTS + "/action_counts-a6d7472868")
    .queryName("action_counts")
    .outputMode("update")
)

solved = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "captcha-solved")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "browser string, ok boolean, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.browser"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "browser"
        ),
        F.col("json.ok").alias("ok"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("solved", F.count("*").alias("rows"))
)

action_counts_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.action_counts.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.coalesce("value", "key").cast("string"),
            action_counts.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("value").isNull().alias("_deleted"),
        F.expr("CAST(CAST(headers[0].value AS STRING) AS BIGINT)").alias("_version"),
        F.col("timestamp").alias("_arrived"),
    )
    .select("row.browser", "row.actions", "_deleted", "_version", "_arrived")
)

joined = (
    state_operator(
        "JoinTables",
        action_counts_received,
        solved.select("browser", "ok", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        on=[["browser", "browser"]],
        kind="left",
        arrived="_arrived",
        left={"deleted": "_deleted", "lane": ["browser"], "version": ["_version"]},
        right={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.browser"),
        F.col("left.actions"),
        F.col("right.ok"),
        F.col("_deleted"),
        F.col("_version"),
    )
    .observe("joined", F.count("*").alias("rows"))
)

score = joined.select(
    F.expr("browser").alias("browser"),
    F.expr("CASE WHEN ok THEN 0 ELSE actions END").alias("score"),
    F.col("_deleted"),
    F.col("_version"),
).observe("score", F.count("*").alias("rows"))

changes = (
    score.withColumn("_key", F.expr("CAST(browser AS STRING)"))
    .withColumn("_group", F.xxhash64("_key"))
    .observe("changes", F.count("*").alias("rows"))
)

suspicious = changes.where("score >= 5").observe("suspicious", F.count("*").alias("rows"))

write_ask = (
    suspicious.select(
        F.lit("ask-captcha").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("browser", "score"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_group", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("ask", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/joined-912f13105f")
    .queryName("ask")
    .outputMode("update")
)

# Records of actions that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "browser-actions")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "browser string, action string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NULL OR json._corrupt_record IS NOT NULL")
    .select(
        F.lit("headrace.golden.actions.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("actions").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.topic").alias("key"),
                    F.col("topic").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.partition").alias("key"),
                    F.col("partition").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.offset").alias("key"),
                    F.col("offset").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.error").alias("key"),
                    F.lit("The value is no JSON object of the declared columns.")
                    .cast("string")
                    .cast("binary")
                    .alias("value"),
                ),
            ),
        ).alias("headers"),
    )
    .observe("actions", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/actions_dead_letters-1f54454685")
    .queryName("actions_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# Records of solved that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "captcha-solved")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "browser string, ok boolean, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
    .select(
        F.lit("headrace.golden.solved.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("solved").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.topic").alias("key"),
                    F.col("topic").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.partition").alias("key"),
                    F.col("partition").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.offset").alias("key"),
                    F.col("offset").cast("string").cast("binary").alias("value"),
                ),
                F.struct(
                    F.lit("headrace.error").alias("key"),
                    F.lit("The value is no JSON object of the declared columns.")
                    .cast("string")
                    .cast("binary")
                    .alias("value"),
                ),
            ),
        ).alias("headers"),
    )
    .observe("solved", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/solved_dead_letters-5493fe43c1")
    .queryName("solved_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_action_counts.trigger(availableNow=True).start().awaitTermination()
write_ask.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_action_counts.trigger(realTime="2 minutes").start()
write_ask.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
