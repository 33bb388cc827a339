"""golden, drawn in Headrace.

out: real-time. Every step can run record by record.
views_dead_letters: micro-batch. Records that can't be read are put aside once a second.

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


views = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "page-views")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, product string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.user").alias("user"),
        F.col("json.product").alias("product"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("views", F.count("*").alias("rows"))
)

known = views.where("product IS NOT NULL").observe("known", F.count("*").alias("rows"))

per_product = state_operator(
    "HoppingWindows",
    known,
    group_by=["product"],
    time="_timestamp",
    size=5000,
    advance=2000,
    grace=10000,
    results=[["views", "count(*)"], ["viewers", "collect_set(user)"]],
    emit="updates",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("per_product", F.count("*").alias("rows"))

write_out = (
    per_product.select(
        F.lit("views-per-product").alias("topic"),
        F.to_json(F.struct("window", "product"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(
                F.struct("window", "product", "views", "viewers"), {"ignoreNullFields": "false"}
            ),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "product", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_product-27020fc432")
    .queryName("out")
    .outputMode("update")
)

# Records of views that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "page-views")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, product string, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NULL OR json._corrupt_record IS NOT NULL")
    .select(
        F.lit("headrace.golden.views.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("views").cast("string").cast("binary").alias("value"),
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
    .observe("views", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/views_dead_letters-26ba37a618")
    .queryName("views_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_out.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
