"""golden, drawn in Headrace.

lines: micro-batch. Python (tidy) runs in batches: Spark calls Python only between batches.
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


def call_for_each(make, place, schema, seconds=10):
    """For `mapInArrow`: a Python step's function, called for each row, for so long at most."""
    import os
    import signal

    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    types = to_arrow_schema(StructType.fromDDL(schema), timezone="UTC")
    own = {name for name in types.names if name[0] != "_"}
    step = make.__name__.removesuffix("_function")

    def rows_of(function, row):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            given = function(row)
            rows = [given] if isinstance(given, dict) else list(given or ())
            for values in rows:
                if not isinstance(values, dict):
                    raise TypeError(f"It gave {values!r}, which is no dict.")
                # A row given back as it came has hidden columns, which stay what they are.
                if unknown := values.keys() - own - {n for n in row if n[0] == "_"}:
                    raise KeyError(f"It gave {sorted(unknown)}, which are no declared columns.")
            return rows
        except Exception as error:
            raise RuntimeError(f"step {step}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def batches_of(batches):
        def too_long(number, frame):
            raise TimeoutError(f"It took longer than {seconds} seconds for one row.")

        def fork():
            raise OSError("It may not fork: its copy would write rows, too.")

        signal.signal(signal.SIGALRM, too_long)
        os.fork = os.forkpty = fork
        function = make()
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                hidden = {name: value for name, value in row.items() if name[0] == "_"}
                for i, values in enumerate(rows_of(function, row)):
                    rows.append({**values, **hidden, place: i})
            try:
                given = pyarrow.RecordBatch.from_pylist(rows, schema=types)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
                raise RuntimeError(f"step {step}: It gave another type: {error}") from error
            yield given

    return batches_of


orders = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "basket-orders")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "order int, customer string, basket string, _corrupt_record string",
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
        F.col("json.basket").alias("basket"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("orders", F.count("*").alias("rows"))
)


def tidy_function():
    def tidy(row):
        name = row["customer"].strip().title()
        return {"order": row["order"], "customer": name, "basket": row["basket"]}

    return tidy


tidy = orders.mapInArrow(
    call_for_each(
        tidy_function,
        "_place",
        "order int, customer string, basket string, _key string, _timestamp timestamp, _topic string, _partition int, _offset bigint, _arrived timestamp, _place int",
    ),
    "order int, customer string, basket string, _key string, _timestamp timestamp, _topic string, _partition int, _offset bigint, _arrived timestamp, _place int",
).observe("tidy", F.count("*").alias("rows"))


def products_function():
    def products(row):
        for part in row["basket"].split(","):
            product, pieces = part.split(":")
            if int(pieces) > 0:
                yield {
                    "customer": row["customer"],
                    "order": row["order"],
                    "product": product,
                    "pieces": int(pieces),
                }

    return products


products = tidy.mapInArrow(
    call_for_each(
        products_function,
        "_place_",
        "customer string, order int, product string, pieces int, _key string, _timestamp timestamp, _topic string, _partition int, _offset bigint, _arrived timestamp, _place int, _place_ int",
    ),
    "customer string, order int, product string, pieces int, _key string, _timestamp timestamp, _topic string, _partition int, _offset bigint, _arrived timestamp, _place int, _place_ int",
).observe("products", F.count("*").alias("rows"))

many = products.where("pieces < 100").observe("many", F.count("*").alias("rows"))

lines = (
    many.select(
        F.lit("order-lines").alias("topic"),
        F.col("customer").cast("string").alias("key"),
        F.to_json(
            F.struct("customer", "order", "product", "pieces"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_topic", "_partition", "_place", "_place_", "_offset"))
                .cast("binary")
                .alias("value"),
            )
        ).alias("headers"),
    )
    .observe("lines", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/lines-20317c17ee")
    .queryName("lines")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
