"""golden, drawn in Headrace.

queue: micro-batch. Python processor (turns) runs in batches: Spark calls Python only between batches.
"""

import json
from pyspark.sql import SparkSession, functions as F

from datetime import UTC, datetime
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

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


class Processor(StatefulProcessor):
    """A Python step's class as a state operator: what it keeps and its timers, key by key."""

    def __init__(self, make, key, columns, event_time, arrival, seconds=10):
        self.make, self.key, self.columns, self.arrival = make, key, columns, arrival
        self.event_time, self.seconds = event_time, seconds

    def init(self, handle):
        import os
        import signal

        def too_long(number, frame):
            raise TimeoutError(f"It took longer than {self.seconds} seconds.")

        def fork():
            raise OSError("It may not fork: its copy would write rows, too.")

        signal.signal(signal.SIGALRM, too_long)
        os.fork = os.forkpty = fork
        self.handle = handle
        self.kept = handle.getMapState("kept", "name STRING", "value STRING")
        self.processor = self.make()()

    def handleInputRows(self, key, rows, timerValues):
        for row in as_they_came(rows, **self.arrival):
            self.now = self.time_of(row["_timestamp"], timerValues)
            yield from self.given(key, self.processor.on_row, row.asDict(True))

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        at = datetime.fromtimestamp(expiredTimerInfo.getExpiryTimeInMs() / 1000, UTC)
        self.now = at
        yield from self.given(key, self.processor.on_timer, at)

    def given(self, key, method, seen):
        import signal

        text, values = plain_key(dict(zip(self.key, key, strict=True)))
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            rows = list(method(values, seen, self, self) or ())
            for row in rows:
                if not isinstance(row, dict):
                    raise TypeError(f"It gave {row!r}, which is no dict.")
                if unknown := row.keys() - set(self.columns):
                    raise KeyError(f"It gave {sorted(unknown)}, which are no declared columns.")
        except Exception as error:
            step = self.make.__name__.removesuffix("_class")
            raise RuntimeError(f"step {step}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for row in rows:
            # Which row of the key it is: the same when a batch is run again.
            number = self.get("", 0) + 1
            self.put("", number)
            given = {name: row.get(name) for name in self.columns}
            yield Row(**given, _key=text, _version=number)

    def time_of(self, timestamp, timerValues):
        if self.event_time:
            return timestamp.astimezone(UTC)
        return datetime.fromtimestamp(timerValues.getCurrentProcessingTimeInMs() / 1000, UTC)

    # store: what is kept for the key, as JSON.
    def get(self, name, default=None):
        found = self.kept.getValue((name,)) if self.kept.containsKey((name,)) else None
        return default if found is None else json.loads(found[0])

    def put(self, name, value):
        self.kept.updateValue((name,), (json.dumps(value),))

    def delete(self, name):
        self.kept.removeKey((name,))

    # timers
    def at(self, moment):
        if isinstance(moment, datetime):
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        self.handle.registerTimer(int(moment * 1000))

    def after(self, seconds):
        self.at(self.now.timestamp() + seconds)


def as_they_came(rows, arrived, lane, version):
    """The rows of a lane by their version, lanes beside each other by when their rows arrived."""
    from heapq import merge

    def by(names):
        return lambda row: [(row[name] is not None, row[name]) for name in names]

    came = by([arrived] if arrived else [])
    lanes = {}
    for row in rows:
        lanes.setdefault(str([row[name] for name in lane]), []).append(row)
    for one in lanes.values():
        one.sort(key=by(version) if version else came)
    return merge(*lanes.values(), key=came)


def plain_key(key):
    """A key as a record has it, plain text of one column and JSON of several, and as code sees it:
    the value of one column, a dict of several."""
    if len(key) > 1:
        return json.dumps(key, default=str, ensure_ascii=False, separators=(",", ":")), key
    (value,) = key.values()
    if value is None or isinstance(value, str):
        return value, value
    return str(value).lower() if isinstance(value, bool) else str(value), value


sales = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "sales")
    .option("startingOffsets", "earliest")
    .option("kafka.fetch.max.wait.ms", 10)
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "shop string, till int, who string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "sales.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.shop").alias("shop"),
        F.col("json.till").alias("till"),
        F.col("json.who").alias("who"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("sales", F.count("*").alias("rows"))
)


def turns_class():
    class Turns:
        def on_row(self, key, row, store, timers):
            turn = store.get("turn", 0) + 1
            store.put("turn", turn)
            yield {"shop": key["shop"], "till": key["till"], "turn": turn, "who": row["who"]}

    return Turns


turns = (
    sales.groupBy("shop", "till")
    .transformWithState(
        Processor(
            turns_class,
            ["shop", "till"],
            ["shop", "till", "turn", "who"],
            False,
            {"arrived": "_arrived", "lane": ["_topic", "_partition"], "version": ["_offset"]},
        ),
        "shop string, till int, turn int, who string, _key string, _version bigint",
        "Update",
        "ProcessingTime",
    )
    .withColumn("_group", F.xxhash64("_key"))
    .observe("turns", F.count("*").alias("rows"))
)

queue = (
    turns.select(
        F.lit("queue").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(F.struct("shop", "till", "turn", "who"), {"ignoreNullFields": "false"}).alias(
            "value"
        ),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_group", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("queue", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/turns-85edb7166a")
    .queryName("queue")
    .outputMode("update")
    .start()
)

spark.streams.awaitAnyTermination()
