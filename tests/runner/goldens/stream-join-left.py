"""golden, drawn in Headrace.

report: micro-batch. Join (seen) runs in batches: rows without a match come out when the time for one has passed, which real-time mode sees only every two minutes.

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


shown = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "ads-shown")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "ad string, reader string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "shown.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.ad").alias("ad"),
        F.col("json.reader").alias("reader"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("shown", F.count("*").alias("rows"))
)

clicks = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "ad-clicks")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "ad string, reader string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "clicks.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.ad").alias("ad"),
        F.col("json.reader").alias("reader"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("clicks", F.count("*").alias("rows"))
)

seen = (
    state_operator(
        "JoinStreams",
        shown,
        clicks,
        on=[["ad", "ad"], ["reader", "reader"]],
        kind="left",
        left_time="_timestamp",
        right_time="_timestamp",
        before=0,
        after=600000,
        grace=1800000,
    )
    .select(
        F.col("left.ad"),
        F.col("left.reader"),
        F.col("left.at").alias("shown_at"),
        F.col("right.at").alias("clicked_at"),
        F.col("_timestamp"),
        F.coalesce(F.col("left._key"), F.col("right._key")).alias("_key"),
        F.col("left._topic").alias("_left_topic"),
        F.col("left._partition").alias("_left_partition"),
        F.col("left._offset").alias("_left_offset"),
        F.col("right._topic").alias("_right_topic"),
        F.col("right._partition").alias("_right_partition"),
        F.col("right._offset").alias("_right_offset"),
    )
    .observe("seen", F.count("*").alias("rows"))
)

told = seen.withColumns({"clicked": F.expr("clicked_at IS NOT NULL")}).observe(
    "told", F.count("*").alias("rows")
)

report = (
    told.select(
        F.lit("ad-report").alias("topic"),
        F.col("ad").cast("string").alias("key"),
        F.to_json(
            F.struct("ad", "reader", "shown_at", "clicked_at", "clicked"),
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
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/seen-45d514e15b")
    .queryName("report")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
