"""golden, drawn in Headrace.

countries: real-time. Every step can run record by record.
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

visits = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "site-visits")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "country string, device string, seconds int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "visits.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.country").alias("country"),
        F.col("json.device").alias("device"),
        F.col("json.seconds").alias("seconds"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("visits", F.count("*").alias("rows"))
)

per_country = (
    visits.groupBy("country")
    .agg(F.count("*").alias("visits"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(visits)) = ''")
    .observe("per_country", F.count("*").alias("rows"))
)

write_countries = (
    per_country.select(
        F.lit("visits-per-country").alias("topic"),
        F.col("country").cast("string").alias("key"),
        F.to_json(F.struct("country", "visits"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("country").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("country", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("countries", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_country-d584db529b")
    .queryName("countries")
    .outputMode("update")
)

per_place = (
    visits.groupBy("country", "device")
    .agg(
        F.count("*").alias("visits"),
        F.sum(F.expr("seconds")).alias("seconds"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(visits, seconds)) = ''")
    .observe("per_place", F.count("*").alias("rows"))
)

told = per_place.withColumns(
    {"known": F.expr("country IS NOT NULL AND device IS NOT NULL")}
).observe("told", F.count("*").alias("rows"))

write_report = (
    told.select(
        F.lit("visit-report").alias("topic"),
        F.to_json(F.struct("country", "device"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(
            F.struct("country", "device", "visits", "seconds", "known"),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("country", "device", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("report", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_place-ac33c15c51")
    .queryName("report")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_countries.trigger(availableNow=True).start(),
    write_report.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_countries.trigger(realTime="2 minutes").start()
write_report.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
