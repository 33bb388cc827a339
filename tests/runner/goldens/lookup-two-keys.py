"""golden, drawn in Headrace.

seen: real-time. Every step can run record by record.
"""

from pyspark.sql import SparkSession, functions as F

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
            "visit int, shop string, shelf int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "visits.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.visit").alias("visit"),
        F.col("json.shop").alias("shop"),
        F.col("json.shelf").alias("shelf"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("visits", F.count("*").alias("rows"))
)

shelves = (
    spark.read.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "shelves")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "shop string, shelf int, product string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("value IS NULL OR (json IS NOT NULL AND json._corrupt_record IS NULL)")
    .select(
        F.coalesce(
            F.col("json.shop"),
            F.from_json(F.col("key").cast("string"), "shop string").getField("shop"),
        ).alias("shop"),
        F.coalesce(
            F.col("json.shelf"),
            F.from_json(F.col("key").cast("string"), "shelf int").getField("shelf"),
        ).alias("shelf"),
        F.col("json.product").alias("product"),
        F.col("key").cast("string").alias("_key"),
        F.col("offset").alias("_offset"),
        F.col("value").isNull().alias("_deleted"),
    )
    .groupBy("shop", "shelf")
    .agg(
        F.max_by(F.struct("shop", "shelf", "product", "_key", "_deleted"), "_offset").alias(
            "newest"
        )
    )
    .where("NOT newest._deleted")
    .select("newest.shop", "newest.shelf", "newest.product", "newest._key")
    .observe("shelves", F.count("*").alias("rows"))
)

found = (
    visits.alias("left")
    .join(
        F.broadcast(shelves.alias("right")),
        F.expr("left.shop = right.shop AND left.shelf = right.shelf"),
        "left",
    )
    .select(
        F.col("left.visit"),
        F.col("left.shop"),
        F.col("left.shelf"),
        F.col("left._key"),
        F.col("left._timestamp"),
        F.col("left._topic"),
        F.col("left._partition"),
        F.col("left._offset"),
        F.col("left._arrived"),
        F.col("right.product"),
    )
    .observe("found", F.count("*").alias("rows"))
)

seen = (
    found.select(
        F.lit("seen-on-shelves").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(
            F.struct("visit", "shop", "shelf", "product"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("seen", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/seen-84c571d9da")
    .queryName("seen")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

spark.streams.awaitAnyTermination()
