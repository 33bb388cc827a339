"""golden, drawn in Headrace.

orders: micro-batch. Orders (orders) runs in batches: what follows it can't be written by one query, so each batch is kept and shared.
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

# Orders
orders = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "order bigint, customer string, amount double, items array<string>, at timestamp, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "orders.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.order").alias("order"),
        F.col("json.customer").alias("customer"),
        F.col("json.amount").alias("amount"),
        F.col("json.items").alias("items"),
        F.col("json.at").alias("at"),
        F.col("key").cast("string").alias("_key"),
        F.coalesce(F.col("json.at"), F.col("timestamp")).alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("orders", F.count("*").alias("rows"))
)


def write_orders(batch, batch_id):
    # The batch is read once, whole, and kept while every sink reads it.
    orders = batch.persist()
    orders.count()

    each = orders.select("*", F.posexplode(F.expr("items")).alias("_place_of_item", "item"))
    print('{"step": "each", "rows": ' + str(each.count()) + "}")

    for (line,) in (
        orders.select(
            F.concat(
                F.lit('{"step": "seen", "row": '),
                F.to_json(
                    F.struct(
                        F.col("order"),
                        F.col("customer"),
                        F.col("amount"),
                        F.col("items"),
                        F.col("at"),
                    ),
                    {"ignoreNullFields": "false"},
                ),
                F.lit("}"),
            )
        )
        .limit(5)
        .collect()
    ):
        print(line)
    print('{"step": "seen", "rows": ' + str(orders.count()) + "}")

    each.select(
        F.lit("items").alias("topic"),
        F.col("item").cast("string").alias("key"),
        F.to_json(
            F.struct("order", "customer", "amount", "items", "at", "item"),
            {"ignoreNullFields": "false"},
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_place_of_item", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    ).write.format("kafka").options(**CONNECTIONS["local"]).save()
    print('{"step": "items_out", "rows": ' + str(each.count()) + "}")
    orders.unpersist()


(
    orders.writeStream.foreachBatch(write_orders)
    .option("checkpointLocation", CHECKPOINTS + "/orders-e3f9661c51")
    .queryName("orders")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
