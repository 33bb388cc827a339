"""golden, drawn in Headrace.

changes: real-time. Every step can run record by record.
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


sales = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "shop-sales")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "shop string, product string, pieces int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "sales.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.shop").alias("shop"),
        F.col("json.product").alias("product"),
        F.col("json.pieces").alias("pieces"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("sales", F.count("*").alias("rows"))
)

totals = (
    sales.groupBy("shop", "product")
    .agg(F.sum(F.expr("pieces")).alias("total"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(total)) = ''")
    .observe("totals", F.count("*").alias("rows"))
)

changes = (
    totals.withColumn(
        "_key",
        F.expr(
            "TO_JSON(STRUCT(shop AS shop, product AS product), MAP('ignoreNullFields', 'false'))"
        ),
    )
    .withColumn("_group", F.xxhash64("_key"))
    .observe("changes", F.count("*").alias("rows"))
)

write_changes = (
    changes.select(
        F.lit("headrace.golden.changes.rows").alias("topic"),
        F.to_json(F.struct("_group"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}).alias(
            "key"
        ),
        F.to_json(
            F.struct("shop", "product", "total", "_version", "_key", "_group"),
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("value"),
    )
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/totals-d8175355da")
    .queryName("changes")
    .outputMode("update")
)

changes_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.changes.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.col("value").cast("string"),
            changes.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("timestamp").alias("_arrived"),
    )
    .select(
        "row.shop", "row.product", "row.total", "row._version", "row._key", "row._group", "_arrived"
    )
)

per_shop = (
    state_operator("DropRepeats", changes_received, key=[], lane=["_group"], version=["_version"])
    .groupBy("shop")
    .agg(
        F.count("*").alias("changes"),
        F.max(F.expr("total")).alias("highest"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(changes, highest)) = ''")
    .observe("per_shop", F.count("*").alias("rows"))
)

write_report = (
    per_shop.select(
        F.lit("changes-per-shop").alias("topic"),
        F.col("shop").cast("string").alias("key"),
        F.to_json(F.struct("shop", "changes", "highest"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.when(F.col("shop").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("shop", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_shop-bf4225ee1a")
    .queryName("report")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_changes.trigger(availableNow=True).start().awaitTermination()
write_report.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_changes.trigger(realTime="2 minutes").start()
write_report.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
