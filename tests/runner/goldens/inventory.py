"""golden, drawn in Headrace.

on_hand: real-time. Every step can run record by record.
sales_dead_letters: micro-batch. Records that can't be read are put aside once a second.
shipments_dead_letters: micro-batch. Records that can't be read are put aside once a second.
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
    .option("subscribe", "sales")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "product string, quantity int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.product").alias("product"),
        F.col("json.quantity").alias("quantity"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("sales", F.count("*").alias("rows"))
)

shipments = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "shipments")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "product string, quantity int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.product").alias("product"),
        F.col("json.quantity").alias("quantity"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("shipments", F.count("*").alias("rows"))
)

sold = sales.select(
    F.expr("product").alias("product"),
    F.expr("-quantity").alias("change"),
    F.col("_key"),
    F.col("_timestamp"),
    F.col("_topic"),
    F.col("_partition"),
    F.col("_offset"),
    F.col("_arrived"),
).observe("sold", F.count("*").alias("rows"))

arrived = shipments.select(
    F.expr("product").alias("product"),
    F.expr("quantity").alias("change"),
    F.col("_key"),
    F.col("_timestamp"),
    F.col("_topic"),
    F.col("_partition"),
    F.col("_offset"),
    F.col("_arrived"),
).observe("arrived", F.count("*").alias("rows"))

changes = sold.unionByName(arrived, allowMissingColumns=True).observe(
    "changes", F.count("*").alias("rows")
)

on_hand = (
    changes.groupBy("product")
    .agg(F.sum(F.expr("change")).alias("stock"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(stock)) = ''")
    .observe("on_hand", F.count("*").alias("rows"))
)

stock = F.struct(
    F.lit("inventory").alias("topic"),
    F.col("product").cast("string").alias("key"),
    F.to_json(F.struct("product", "stock"), {"ignoreNullFields": "false"}).alias("value"),
    F.when(F.col("product").isNull(), 0).alias("partition"),
    F.array(
        F.struct(
            F.lit("headrace.id").alias("key"),
            F.to_json(F.struct("product", "_version")).cast("binary").alias("value"),
        )
    ).alias("headers"),
)

reorder = F.when(
    F.expr("stock < 10"),
    F.struct(
        F.lit("reorders").alias("topic"),
        F.expr("CAST(product AS STRING)").alias("_key").cast("string").alias("key"),
        F.to_json(F.struct("product", "stock"), {"ignoreNullFields": "false"}).alias("value"),
        F.lit(None).cast("int").alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(
                    F.struct(
                        F.expr("xxhash64(CAST(product AS STRING))").alias("_group"), "_version"
                    )
                )
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ),
)

# One query writes stock, reorder, so that its rows are read once.
write_on_hand = (
    on_hand.observe("levels", F.count("*").alias("rows"))
    .observe("low", F.count_if(F.expr("stock < 10")).alias("rows"))
    .observe("stock", F.count("*").alias("rows"))
    .observe("reorder", F.count_if(F.expr("stock < 10")).alias("rows"))
    .select(F.explode(F.array_compact(F.array(stock, reorder))).alias("record"))
    .select("record.*")
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/on_hand-79015b4076")
    .queryName("on_hand")
    .outputMode("update")
)

# Records of sales that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "sales")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "product string, quantity int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NULL OR json._corrupt_record IS NOT NULL")
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
                    F.lit("The value is no JSON object of the declared columns.")
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
    .option("checkpointLocation", CHECKPOINTS + "/sales_dead_letters-d0142e8452")
    .queryName("sales_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# Records of shipments that can't be read.
(
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "shipments")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "product string, quantity int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .where("json IS NULL OR json._corrupt_record IS NOT NULL")
    .select(
        F.lit("headrace.golden.shipments.dead-letters").alias("topic"),
        "key",
        "value",
        F.concat(
            F.coalesce("headers", F.array()),
            F.array(
                F.struct(
                    F.lit("headrace.step").alias("key"),
                    F.lit("shipments").cast("string").cast("binary").alias("value"),
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
    .observe("shipments", F.count("*").alias("dropped"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/shipments_dead_letters-07e1c15a60")
    .queryName("shipments_dead_letters")
    .outputMode("update")
    .trigger(processingTime="1 second")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_on_hand.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_on_hand.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
