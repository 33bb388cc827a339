"""golden, drawn in Headrace.

closed: real-time. Every step can run record by record.
counts: real-time. Every step can run record by record.
ticks_dead_letters: micro-batch. Records that can't be read are put aside once a second.
presence_dead_letters: micro-batch. Records that can't be read are put aside once a second.

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


ticks = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "tick")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.user").alias("user"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("ticks", F.count("*").alias("rows"))
)

presence = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "presence")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, state string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.user"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "user"
        ),
        F.col("json.state").alias("state"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("presence", F.count("*").alias("rows"))
)

with_state = (
    state_operator(
        "JoinStreamTable",
        ticks,
        presence.select("user", "state", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        on=[["user", "user"]],
        kind="left",
        arrived="_arrived",
        deleted="_deleted",
        lane=["_topic", "_partition"],
        version=["_offset"],
        left={"lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.user"),
        F.col("left.at"),
        F.col("left._key"),
        F.col("left._timestamp"),
        F.col("left._topic"),
        F.col("left._partition"),
        F.col("left._offset"),
        F.col("left._headers"),
        F.col("left._arrived"),
        F.col("right.state"),
        F.xxhash64(F.col("left.user")).alias("_shuffled"),
    )
    .observe("with_state", F.count("*").alias("rows"))
)

closed = with_state.where("state = 'Closed'").observe("closed", F.count("*").alias("rows"))

closed_sent = F.struct(
    F.lit("headrace.golden.closed.rows").alias("topic"),
    F.to_json(
        F.struct("_topic", "_partition", "_shuffled"),
        {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
    ).alias("key"),
    F.to_json(
        F.struct(
            "user",
            "at",
            "_key",
            "_timestamp",
            "_topic",
            "_partition",
            "_offset",
            "_headers",
            "_arrived",
            "state",
            "_shuffled",
        ),
        {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
    ).alias("value"),
    F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
)

notices = F.struct(
    F.lit("notifications").alias("topic"),
    F.col("_key").cast("string").alias("key"),
    F.to_json(
        F.struct(
            F.expr("user").alias("user"),
            F.expr("'You are not currently viewing the site.'").alias("message"),
        ),
        {"ignoreNullFields": "false"},
    ).alias("value"),
    F.array(
        F.struct(
            F.lit("headrace.id").alias("key"),
            F.to_json(F.struct("_topic", "_partition", "_offset")).cast("binary").alias("value"),
        )
    ).alias("headers"),
)

# One query writes closed_sent, notices, so that its rows are read once.
write_closed = (
    closed.observe("notice", F.count("*").alias("rows"))
    .observe("notices", F.count("*").alias("rows"))
    .select(F.explode(F.array_compact(F.array(closed_sent, notices))).alias("record"))
    .select("record.*")
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/with_state-b406f9c3fc")
    .queryName("closed")
    .outputMode("update")
)

closed_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.closed.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.col("value").cast("string"),
            closed.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("timestamp").alias("_arrived"),
    )
    .select(
        "row.user",
        "row.at",
        "row._key",
        "row._timestamp",
        "row._topic",
        "row._partition",
        "row._offset",
        "row._headers",
        "row.state",
        "row._shuffled",
        "_arrived",
    )
)

per_user = state_operator(
    "HoppingWindows",
    state_operator(
        "DropRepeats",
        closed_received,
        key=[],
        lane=["_topic", "_partition", "_shuffled"],
        version=["_offset"],
    ),
    group_by=["user"],
    time="_timestamp",
    size=600000,
    advance=60000,
    grace=600000,
    results=[["notices", "count(*)"]],
    emit="updates",
    arrived="_arrived",
    lane=["_topic", "_partition", "_shuffled"],
    version=["_offset"],
).observe("per_user", F.count("*").alias("rows"))

write_counts = (
    per_user.select(
        F.lit("notification-counts").alias("topic"),
        F.to_json(F.struct("window", "user"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("window", "user", "notices"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "user", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("counts", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_user-803dd7037b")
    .queryName("counts")
    .outputMode("update")
)

# Records of ticks that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "tick")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NULL OR json._corrupt_record IS NOT NULL")
    .select(
        F.lit("headrace.golden.ticks.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("ticks").cast("string").cast("binary").alias("value"),
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
    .observe("ticks", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/ticks_dead_letters-9f01896457")
    .queryName("ticks_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# Records of presence that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "presence")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, state string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
    .select(
        F.lit("headrace.golden.presence.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("presence").cast("string").cast("binary").alias("value"),
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
    .observe("presence", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/presence_dead_letters-df5c4f573a")
    .queryName("presence_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_closed.trigger(availableNow=True).start().awaitTermination()
write_counts.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_closed.trigger(realTime="2 minutes").start()
write_counts.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
