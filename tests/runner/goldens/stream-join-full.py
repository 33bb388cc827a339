"""golden, drawn in Headrace.

report: micro-batch. Join (stays) runs in batches: rows without a match come out when the time for one has passed, which real-time mode sees only every two minutes.

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


entries = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "badge-entries")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "badge string, came_at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "entries.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.badge").alias("badge"),
        F.col("json.came_at").alias("came_at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.came_at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("entries", F.count("*").alias("rows"))
)

exits = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "badge-exits")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "badge string, left_at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "exits.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.badge").alias("badge"),
        F.col("json.left_at").alias("left_at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.left_at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("exits", F.count("*").alias("rows"))
)

stays = (
    state_operator(
        "JoinStreams",
        entries,
        exits,
        on=[["badge", "badge"]],
        kind="full",
        left_time="_timestamp",
        right_time="_timestamp",
        before=0,
        after=28800000,
        grace=43200000,
    )
    .select(
        F.coalesce(F.col("left.badge"), F.col("right.badge")).alias("badge"),
        F.col("left.came_at"),
        F.col("right.left_at"),
        F.col("_timestamp"),
        F.coalesce(F.col("left._key"), F.col("right._key")).alias("_key"),
        F.col("left._topic").alias("_left_topic"),
        F.col("left._partition").alias("_left_partition"),
        F.col("left._offset").alias("_left_offset"),
        F.col("right._topic").alias("_right_topic"),
        F.col("right._partition").alias("_right_partition"),
        F.col("right._offset").alias("_right_offset"),
    )
    .observe("stays", F.count("*").alias("rows"))
)

told = stays.withColumns(
    {
        "what": F.expr(
            "CASE WHEN came_at IS NULL THEN 'no entry' WHEN left_at IS NULL THEN 'no exit' ELSE 'stay' END"
        )
    }
).observe("told", F.count("*").alias("rows"))

report = (
    told.select(
        F.lit("badge-report").alias("topic"),
        F.col("badge").cast("string").alias("key"),
        F.to_json(
            F.struct("badge", "came_at", "left_at", "what"), {"ignoreNullFields": "false"}
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
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/stays-ad0f0b31fd")
    .queryName("report")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
