"""golden, drawn in Headrace.

out: real-time. Every step can run record by record.
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

# a 'quoted' label
rows = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "t")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "`my col` string, `a.b` int, `it's` map<string,int>, ```tick``` int, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "rows.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.`my col`").alias("my col"),
        F.col("json.`a.b`").alias("a.b"),
        F.col("json.`it's`").alias("it's"),
        F.col("json.```tick```").alias("`tick`"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("rows", F.count("*").alias("rows"))
)

each = rows.select(
    "*", F.posexplode(F.expr("MAP_ENTRIES(`it's`)")).alias("_place_of_my item", "my item")
).observe("each", F.count("*").alias("rows"))

named = each.select(
    F.expr("concat(`my col`, ' \\' \" ', `my item`.key)").alias("x y"),
    F.expr("```tick``` + `a.b`").alias("`tick`"),
    F.col("_key"),
    F.col("_timestamp"),
    F.col("_topic"),
    F.col("_partition"),
    F.col("_offset"),
    F.col("_arrived"),
    F.col("`_place_of_my item`"),
).observe("named", F.count("*").alias("rows"))

counted = (
    named.groupBy("`x y`", "_key")
    .agg(F.count("*").alias("how many"), F.count("*").alias("_version"))
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(`how many`)) = ''")
    .observe("counted", F.count("*").alias("rows"))
)

write_out = (
    counted.select(
        F.lit("t2").alias("topic"),
        F.to_json(F.struct("`x y`", "_key"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(F.struct("`x y`", "`how many`"), {"ignoreNullFields": "false"}).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("`x y`", "_key", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("out", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/counted-fe0b669619")
    .queryName("out")
    .outputMode("update")
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
write_out.trigger(availableNow=True).start().awaitTermination()
spark.streams.resetTerminated()
write_out.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
