"""golden, drawn in Headrace.

changes_in: real-time. Every step can run record by record.
changes_out: real-time. Every step can run record by record.
cash: real-time. Every step can run record by record.
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

income = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "income")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "amount int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "income.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.amount").alias("amount"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("income", F.count("*").alias("rows"))
)

total_in = (
    income.groupBy(F.lit("all").alias("_all"))
    .agg(F.sum(F.expr("amount")).alias("money_in"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(money_in)) = ''")
    .observe("total_in", F.count("*").alias("rows"))
)

changes_in = total_in.withColumn("_key", F.expr("'{}'")).observe(
    "changes_in", F.count("*").alias("rows")
)

write_changes_in = (
    changes_in.select(
        F.lit("headrace.golden.changes_in.rows").alias("topic"),
        F.to_json(F.struct("_all"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}).alias(
            "key"
        ),
        F.to_json(
            F.struct("money_in", "_version", "_all", "_key"),
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("value"),
    )
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/total_in-241721c666")
    .queryName("changes_in")
    .outputMode("update")
)

expenses = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "expenses")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "amount int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "expenses.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.amount").alias("amount"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("headers").alias("_headers"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("expenses", F.count("*").alias("rows"))
)

total_out = (
    expenses.groupBy(F.lit("all").alias("_all"))
    .agg(F.sum(F.expr("amount")).alias("money_out"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(money_out)) = ''")
    .observe("total_out", F.count("*").alias("rows"))
)

changes_out = total_out.withColumn("_key", F.expr("'{}'")).observe(
    "changes_out", F.count("*").alias("rows")
)

write_changes_out = (
    changes_out.select(
        F.lit("headrace.golden.changes_out.rows").alias("topic"),
        F.to_json(F.struct("_all"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}).alias(
            "key"
        ),
        F.to_json(
            F.struct("money_out", "_version", "_all", "_key"),
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("value"),
    )
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/total_out-9acd7683b0")
    .queryName("changes_out")
    .outputMode("update")
)

changes_in_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.changes_in.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.col("value").cast("string"),
            changes_in.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("timestamp").alias("_arrived"),
    )
    .select("row.money_in", "row._version", "row._all", "row._key", "_arrived")
)

changes_out_received = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "headrace.golden.changes_out.rows")
    .option("startingOffsets", "earliest")
    .option("includeHeaders", True)
    .load()
    .select(
        F.from_json(
            F.col("value").cast("string"),
            changes_out.schema,
            {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"},
        ).alias("row"),
        F.col("timestamp").alias("_arrived"),
    )
    .select("row.money_out", "row._version", "row._all", "row._key", "_arrived")
)

told = (
    changes_in_received.withColumns(
        {"_way": F.lit("0"), "_lane": F.to_json(F.struct("_all")), "_version": F.col("_version")}
    )
    .unionByName(
        changes_out_received.withColumns(
            {
                "_way": F.lit("1"),
                "_lane": F.to_json(F.struct("_all")),
                "_version": F.col("_version"),
            }
        ),
        allowMissingColumns=True,
    )
    .observe("told", F.count("*").alias("rows"))
)

cash = (
    told.select(
        F.lit("cash-totals").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(F.struct("money_in", "money_out"), {"ignoreNullFields": "false"}).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_way", "_lane", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("cash", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/cash-beb8bd0b2c")
    .queryName("cash")
    .outputMode("update")
    .trigger(realTime="2 minutes")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_changes_in.trigger(availableNow=True).start(),
    write_changes_out.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_changes_in.trigger(realTime="2 minutes").start()
write_changes_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
