"""golden, drawn in Headrace.

report: real-time. Every step can run record by record.
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
    .option("subscribe", "clerk-sales")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "clerk string, shop string, amount double, coupon string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "sales.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.clerk").alias("clerk"),
        F.col("json.shop").alias("shop"),
        F.col("json.amount").alias("amount"),
        F.col("json.coupon").alias("coupon"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("sales", F.count("*").alias("rows"))
)

per_clerk = (
    sales.groupBy("clerk")
    .agg(
        F.count("*").alias("sales"),
        F.count(F.expr("coupon")).alias("coupons"),
        F.sum(F.expr("amount")).alias("total"),
        F.min(F.expr("amount")).alias("lowest"),
        F.max(F.expr("amount")).alias("highest"),
        F.avg(F.expr("amount")).alias("mean"),
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), min_by(amount, _offset), min_by(amount, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("first_sale"),
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), max_by(amount, _offset), max_by(amount, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("last_sale"),
        F.approx_count_distinct(F.expr("shop")).alias("shops"),
        F.expr(
            "array_compact(if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), sort_array(transform(collect_list(struct(_arrived, _topic, _partition, _offset, amount AS value)), row -> struct(row._offset, row.value))).value, sort_array(collect_list(struct(_arrived, _topic, _partition, _offset, amount AS value))).value))"
        ).alias("amounts"),
        F.collect_set(F.expr("shop")).alias("places"),
        F.stddev(F.expr("amount")).alias("spread"),
        F.percentile(F.expr("amount"), 0.75).alias("upper_quarter"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where(
        "_version > 0 OR to_json(struct(sales, coupons, total, lowest, highest, mean, first_sale, last_sale, shops, amounts, places, spread, upper_quarter)) = ''"
    )
    .observe("per_clerk", F.count("*").alias("rows"))
)

in_order = per_clerk.withColumns({"places": F.expr("sort_array(places)")}).observe(
    "in_order", F.count("*").alias("rows")
)

write_report = (
    in_order.select(
        F.lit("clerk-report").alias("topic"),
        F.col("clerk").cast("string").alias("key"),
        F.to_json(
            F.struct(
                "clerk",
                "sales",
                "coupons",
                "total",
                "lowest",
                "highest",
                "mean",
                "first_sale",
                "last_sale",
                "shops",
                "amounts",
                "places",
                "spread",
                "upper_quarter",
            ),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.when(F.col("clerk").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("clerk", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_clerk-e232ab6999")
    .queryName("report")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_report.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_report.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
