"""golden, drawn in Headrace.

out: real-time. Every step can run record by record.

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


stock = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "stock")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "product string, pieces int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "stock.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.product"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "product"
        ),
        F.col("json.pieces").alias("pieces"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("stock", F.count("*").alias("rows"))
)

prices = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "prices")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "Article string, price double, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "prices.dropped",
        F.count_if(
            F.expr("value IS NOT NULL AND (json IS NULL OR json._corrupt_record IS NOT NULL)")
        ).alias("dropped"),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(F.col("json.Article"), F.expr("TRY_CAST(CAST(key AS STRING) AS string)")).alias(
            "Article"
        ),
        F.col("json.price").alias("price"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
        F.col("value").isNull().alias("_deleted"),
    )
    .observe("prices", F.count("*").alias("rows"))
)

named = stock.withColumns(
    {"Product": F.expr("upper(product)"), "Pieces": F.expr("PIECES + 0")}
).observe("named", F.count("*").alias("rows"))

upper = prices.withColumns({"article": F.expr("upper(ARTICLE)")}).observe(
    "upper", F.count("*").alias("rows")
)

worth = (
    state_operator(
        "JoinTables",
        named.select(
            "Product", "Pieces", "_topic", "_partition", "_offset", "_arrived", "_deleted"
        ),
        upper.select("article", "price", "_topic", "_partition", "_offset", "_arrived", "_deleted"),
        on=[["PRODUCT", "ARTICLE"]],
        kind="inner",
        arrived="_arrived",
        left={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
        right={"deleted": "_deleted", "lane": ["_topic", "_partition"], "version": ["_offset"]},
    )
    .select(
        F.col("left.Product"),
        F.col("left.Pieces"),
        F.col("right.article"),
        F.col("right.price"),
        F.col("_deleted"),
        F.col("_version"),
    )
    .observe("worth", F.count("*").alias("rows"))
)

total = worth.withColumns({"Worth": F.expr("PRICE * pieces")}).observe(
    "total", F.count("*").alias("rows")
)

write_out = (
    total.select(
        F.lit("worth").alias("topic"),
        F.col("Product").cast("string").alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(
                F.struct("Product", "Pieces", "article", "price", "Worth"),
                {"ignoreNullFields": "false"},
            ),
        ).alias("value"),
        F.when(F.col("Product").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("Product", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/worth-e0709fdfe4")
    .queryName("out")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_out.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
