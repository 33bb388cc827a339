"""golden, drawn in Headrace.

board: real-time. Every step can run record by record.

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


clicks = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "team-clicks")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "player string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "clicks.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.player").alias("player"),
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

teams = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "player-teams")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "player string, team string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "teams.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.player"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "player"
        ),
        F.col("json.team").alias("team"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("teams", F.count("*").alias("rows"))
)

with_team = (
    state_operator(
        "JoinStreamTable",
        clicks,
        teams.select("player", "team", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        on=[["player", "player"]],
        kind="inner",
        arrived="_arrived",
        deleted="_deleted",
        lane=["_topic", "_partition"],
        version=["_offset"],
        left={"lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.player"),
        F.col("left.at"),
        F.col("left._key"),
        F.col("left._timestamp"),
        F.col("left._topic"),
        F.col("left._partition"),
        F.col("left._offset"),
        F.col("left._arrived"),
        F.col("right.team"),
        F.xxhash64(F.col("left.player")).alias("_shuffled"),
    )
    .observe("with_team", F.count("*").alias("rows"))
)

per_team = (
    with_team.observe(
        "per_team.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 600000) + 600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "1 hour")
    .groupBy(F.window("_timestamp", "10 minutes"), "team")
    .agg(F.count("*").alias("clicks"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(clicks)) = ''")
    .observe("per_team", F.count("*").alias("rows"))
)

write_board = (
    per_team.select(
        F.lit("clicks-per-team").alias("topic"),
        F.to_json(F.struct("window", "team"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(F.struct("window", "team", "clicks"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "team", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("board", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_team-9ef952e5d4")
    .queryName("board")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_board.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_board.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
