"""golden, drawn in Headrace.

texts: real-time. Every step can run record by record.
visited: real-time. Every step can run record by record.
hours: real-time. Every step can run record by record.
told: micro-batch. Python processor (telling) runs in batches: Spark calls Python only between batches.

Its state operators are in headrace-operators.jar, which Headrace serves;
give it to spark-submit by --jars, beside Spark's connector to Kafka.
"""

import json
from pyspark.sql import DataFrame, SparkSession, functions as F

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


def state_operator(name, *inputs, **options):
    """The rows of one of the state operators in headrace-operators.jar."""
    java = getattr(spark._jvm.headrace, name)
    rows = java.apply([given._jdf for given in inputs], json.dumps(options))
    return DataFrame(rows, spark)


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


words = (
    spark.readStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("subscribe", "words")
    .option("startingOffsets", "earliest")
    .load()
    .withColumn(
        "json",
        F.from_json(
            F.col("value").cast("string"),
            "user string, word string, _corrupt_record string",
            {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"},
        ),
    )
    .observe(
        "words.dropped",
        F.count_if(F.expr("json IS NULL OR json._corrupt_record IS NOT NULL")).alias("dropped"),
    )
    .where("json IS NOT NULL AND json._corrupt_record IS NULL")
    .select(
        F.col("json.user").alias("user"),
        F.col("json.word").alias("word"),
        F.col("key").cast("string").alias("_key"),
        F.col("timestamp").alias("_timestamp"),
        F.col("topic").alias("_topic"),
        F.col("partition").alias("_partition"),
        F.col("offset").alias("_offset"),
        F.col("timestamp").alias("_arrived"),
    )
    .observe("words", F.count("*").alias("rows"))
)

text = state_operator(
    "Reduce",
    words,
    group_by=["user"],
    initial="''",
    expression="concat(acc, word, ' ')",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("text", F.count("*").alias("rows"))

write_texts = (
    text.select(
        F.lit("texts").alias("topic"),
        F.col("user").cast("string").alias("key"),
        F.to_json(F.struct("user", "acc"), {"ignoreNullFields": "false"}).alias("value"),
        F.when(F.col("user").isNull(), 0).alias("partition"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("user", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("texts", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/text-325b8028a9")
    .queryName("texts")
    .outputMode("update")
)

visits = state_operator(
    "SessionWindows",
    words,
    group_by=["user"],
    time="_timestamp",
    gap=60000,
    grace=600000,
    results=[["begins", "first(word)"], ["ends", "last(word)"], ["all", "collect_list(word)"]],
    emit="updates",
    arrived="_arrived",
    lane=["_topic", "_partition"],
    version=["_offset"],
).observe("visits", F.count("*").alias("rows"))

write_visited = (
    visits.select(
        F.lit("visited").alias("topic"),
        F.to_json(F.struct("window", "user"), {"ignoreNullFields": "false"}).alias("key"),
        F.when(
            ~F.col("_deleted"),
            F.to_json(
                F.struct("window", "user", "begins", "ends", "all"), {"ignoreNullFields": "false"}
            ),
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "user", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("visited", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/visits-6f2e82d3e8")
    .queryName("visited")
    .outputMode("update")
)

per_hour = (
    words.observe(
        "per_hour.windows",
        F.expr(
            "approx_top_k(unix_millis(_timestamp) - pmod(unix_millis(_timestamp), 3600000) + 3600000, 1000)"
        ).alias("ends"),
    )
    .withWatermark("_timestamp", "10 minutes")
    .groupBy(F.window("_timestamp", "1 hour"), "user")
    .agg(
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), min_by(word, _offset), min_by(word, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("begins"),
        F.expr(
            "if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), max_by(word, _offset), max_by(word, struct(_arrived, _topic, _partition, _offset)))"
        ).alias("ends"),
        F.expr(
            "array_compact(if(min(struct(_topic, _partition)) = max(struct(_topic, _partition)), sort_array(transform(collect_list(struct(_arrived, _topic, _partition, _offset, word AS value)), row -> struct(row._offset, row.value))).value, sort_array(collect_list(struct(_arrived, _topic, _partition, _offset, word AS value))).value))"
        ).alias("all"),
        F.count("*").alias("_version"),
    )
    # Always true, of all columns: what nobody reads, Spark leaves out of its state.
    .where("_version > 0 OR to_json(struct(begins, ends, all)) = ''")
    .observe("per_hour", F.count("*").alias("rows"))
)

write_hours = (
    per_hour.select(
        F.lit("hours").alias("topic"),
        F.to_json(F.struct("window", "user"), {"ignoreNullFields": "false"}).alias("key"),
        F.to_json(
            F.struct("window", "user", "begins", "ends", "all"), {"ignoreNullFields": "false"}
        ).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("window", "user", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("hours", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("kafka.linger.ms", 0)
    .option("checkpointLocation", CHECKPOINTS + "/per_hour-c7e483c616")
    .queryName("hours")
    .outputMode("update")
)


def telling_class():
    class Telling:
        def on_row(self, key, row, store, timers):
            text = store.get("text", "") + row["word"] + " "
            store.put("text", text)
            yield {"user": key, "text": text}

    return Telling


telling = (
    words.withWatermark("_timestamp", "10 minutes")
    .groupBy("user")
    .transformWithState(
        Processor(
            telling_class,
            ["user"],
            ["user", "text"],
            True,
            {"arrived": "_arrived", "lane": ["_topic", "_partition"], "version": ["_offset"]},
        ),
        "user string, text string, _key string, _version bigint",
        "Update",
        "EventTime",
    )
    .withColumn("_group", F.xxhash64("_key"))
    .observe("telling", F.count("*").alias("rows"))
)

told = (
    telling.select(
        F.lit("told").alias("topic"),
        F.col("_key").cast("string").alias("key"),
        F.to_json(F.struct("user", "text"), {"ignoreNullFields": "false"}).alias("value"),
        F.array(
            F.struct(
                F.lit("headrace.id").alias("key"),
                F.to_json(F.struct("_group", "_version")).cast("binary").alias("value"),
            )
        ).alias("headers"),
    )
    .observe("told", F.count("*").alias("rows"))
    .writeStream.format("kafka")
    .options(**CONNECTIONS["local"])
    .option("checkpointLocation", CHECKPOINTS + "/telling-8180258a3e")
    .queryName("told")
    .outputMode("update")
    .start()
)

# What the topics hold is taken in first, in one batch: tables are whole, and what
# a crash left undone comes in no other order.
for loading in [
    write_texts.trigger(availableNow=True).start(),
    write_visited.trigger(availableNow=True).start(),
    write_hours.trigger(availableNow=True).start(),
]:
    loading.awaitTermination()
spark.streams.resetTerminated()
write_texts.trigger(realTime="2 minutes").start()
write_visited.trigger(realTime="2 minutes").start()
write_hours.trigger(realTime="2 minutes").start()

spark.streams.awaitAnyTermination()
