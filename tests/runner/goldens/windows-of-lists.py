"""golden, drawn in Headrace.

together: real-time. Every step can run record by record.
ways: real-time. Every step can run record by record.

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


visits = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "visits")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "way array<struct<at:timestamp,part:double,name:string>>, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "visits.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.way").alias("way"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("visits", F.count("*").alias("rows"))
)

sessions = state_operator(
    "SessionWindows",
    visits,
    group_by=["way"],
    time="_timestamp",
    gap=60000,
    grace=3600000,
    results=[["visits", "count(*)"]],
    emit="updates",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("sessions", F.count("*").alias("rows"))

write_together = (
    sessions.select(
        F.lit("together").alias("topic"),
        F.to_json(F.struct("window", "way"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("window", "way", "visits"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "way", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("together", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/sessions-4d9c587fb8")
    .queryName("together")
    .outputMode("update")
)

often = state_operator(
    "HoppingWindows",
    visits,
    group_by=["way"],
    time="_timestamp",
    size=180000,
    advance=60000,
    grace=3600000,
    results=[["visits", "count(*)"]],
    emit="updates",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("often", F.count("*").alias("rows"))

busy = often.withColumn("_deleted", F.expr("_deleted OR NOT COALESCE(visits >= 2, FALSE)")).observe(
    "busy", F.count("*").alias("rows")
)

write_ways = (
    busy.select(
        F.lit("ways").alias("topic"),
        F.to_json(F.struct("window", "way"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(F.struct("window", "way", "visits"), {"ignoreNullFields": "false"}),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "way", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("ways", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/often-0893ab3bd3")
    .queryName("ways")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_together.trigger(availableNow=True).start(),
    write_ways.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_together.trigger(realTime="2 minutes").start()
write_ways.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
