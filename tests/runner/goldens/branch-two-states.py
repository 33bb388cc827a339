"""golden, drawn in Headrace.

ways: real-time. Every step can run record by record.
takings: real-time. Every step can run record by record.

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


events = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "guest-events")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "guest string, kind string, page string, amount double, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "events.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.guest").alias("guest"),
        F.col("json.kind").alias("kind"),
        F.col("json.page").alias("page"),
        F.col("json.amount").alias("amount"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("events", F.count("*").alias("rows"))
)

parted = events.withColumn(
    "_branch",
    F.when(F.expr("kind = 'page'"), "pages")
    .when(F.expr("kind = 'sale'"), "sales")
    .otherwise("otherwise"),
).observe("parted", F.count("*").alias("rows"))

way = state_operator(
    "Reduce",
    parted.where(F.col("_branch") == "pages"),
    group_by=["guest"],
    initial="''",
    expression="CASE WHEN acc = '' THEN page ELSE concat(acc, ' > ', page) END",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("way", F.count("*").alias("rows"))

write_ways = (
    way.select(
        F.lit("ways-through-shop").alias("topic"),
        F.col("guest").cast("string").alias("key"),
        F.to_json(F.struct("guest", "acc"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("guest").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("guest", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("ways", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/way-8d05da8233")
    .queryName("ways")
    .outputMode("update")
)

per_hour = (
    parted.where(F.col("_branch") == "sales")
    .observe(
        "per_hour.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 3600000) + 3600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "2 hours")
    .groupBy(F.window("_timestamp", "1 hour"), "guest")
    .agg(
        F.count("*").alias("sales"),
        F.sum(F.expr("amount")).alias("spent"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(sales, spent)) = ''")
    .observe("per_hour", F.count("*").alias("rows"))
)

write_takings = (
    per_hour.select(
        F.lit("takings-per-hour").alias("topic"),
        F.to_json(F.struct("window", "guest"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(
            F.struct("window", "guest", "sales", "spent"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "guest", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("takings", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_hour-96a2cdfbd1")
    .queryName("takings")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_ways.trigger(availableNow=True).start(),
    write_takings.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_ways.trigger(realTime="2 minutes").start()
write_takings.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
