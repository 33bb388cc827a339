"""golden, drawn in Headrace.

out: real-time. Every step can run record by record.
sales_dead_letters: micro-batch. Records that can't be read are put aside once a second.
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

sales = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "sales-csv")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "csv",
        F.from_csv(
            F.col("value").cast("string"),
            "product string, amount double, paid boolean, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("csv IS NOT NULL AND csv._corrupt_record IS NULL")
    .select(
        F.col("csv.product").alias("product"),
        F.col("csv.amount").alias("amount"),
        F.col("csv.paid").alias("paid"),
        F.col("csv.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("csv.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("sales", F.count("*").alias("rows"))
)

paid = sales.where("paid").observe("paid", F.count("*").alias("rows"))

out = (
    paid.select(
        F.lit("sales-paid").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(F.struct("product", "amount", "paid", "at"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/out-0a215e751a")
    .queryName("out")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

# Records of sales that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "sales-csv")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "csv",
        F.from_csv(
            F.col("value").cast("string"),
            "product string, amount double, paid boolean, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("csv IS NULL OR csv._corrupt_record IS NOT NULL")
    .select(
        F.lit("headrace.golden.sales.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("sales").cast("string").cast("binary").alias("value"),
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
                    F.lit("The value is no CSV record of the declared columns.")
                    .cast("string")
                    .cast("binary")
                    .alias("value"),
                ),
            ),
        ).alias("headers"),
    )
    .observe("sales", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/sales_dead_letters-0a215e751a")
    .queryName("sales_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

spark.streams.awaitAnyTermination()
