"""The benchmark's jobs as somebody who knows Spark would write them by hand.

One process per job: `python -m tests.bench.by_hand --workload count --style real-time …`.
`real-time` and `tuned` have the settings that decide latency, `stock` has Spark's defaults. With
`--ids` each output has a header by which repeats can be dropped, as Headrace writes them.
"""

import argparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from runner.jars import spark_jars

TUNED = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.shuffle.streaming.networkBufferSize": "16",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "100",
    "spark.shuffle.streaming.writerMaxMemory": "2097152",
}
SCHEMA = "n bigint, k string, kind string, sent bigint"
# What names a record of Kafka's.
RECORD = {"topic": "string", "partition": "int", "offset": "bigint"}


class Jobs:
    """The four workloads, between the topics of one run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tuned = options.style != "stock"
        self.record = RECORD if options.ids else {}
        self.spark = self.session()

    def session(self) -> SparkSession:
        # Real-time tasks never end: each needs a slot of its own.
        slots = "8" if self.options.style == "real-time" else "*"
        builder = SparkSession.builder.master(f"local[{slots}]").appName("by hand")
        builder = builder.config("spark.jars", ",".join(map(str, spark_jars())))
        builder = builder.config("spark.sql.session.timeZone", "UTC")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.host", "127.0.0.1")
        for name, value in TUNED.items() if self.tuned else ():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("WARN")
        return spark

    def records(self, topic: str, start: str = "earliest") -> DataFrame:
        reader = (
            self.spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.options.servers)
            .option("subscribe", topic)
            .option("startingOffsets", start)
        )
        if self.options.style == "tuned":
            reader = reader.option("kafka.fetch.max.wait.ms", "10")
        return reader.load()

    def views(self, start: str = "earliest") -> DataFrame:
        value = F.from_json(F.col("value").cast("string"), SCHEMA).alias("json")
        return self.records(self.options.records, start).select(value, "timestamp", *self.record)

    def filter(self) -> DataFrame:
        return (
            self.views()
            .select("json.*", *self.record)
            .where("kind <> 'noise'")
            .select(F.col("k").alias("key"), _json("n", "k", "kind", "sent"), *self.id(*RECORD))
        )

    def count(self) -> DataFrame:
        counts = self.views().groupBy("json.k").agg(F.count("*").alias("count"))
        return counts.select(F.col("k").alias("key"), _json("k", "count"), *self.id("k", "count"))

    def hopping(self) -> DataFrame:
        counts = (
            self.views()
            .withWatermark("timestamp", "10 minutes")
            .groupBy(F.window("timestamp", "10 seconds", "5 seconds"), "json.k")
            .agg(F.count("*").alias("count"))
        )
        key = F.to_json(F.struct("window", "k")).alias("key")
        columns = ("window", "k", "count")
        return counts.select(key, _json(*columns), *self.id(*columns))

    def join(self, start: str = "earliest") -> DataFrame:
        """Each record beside the newest row of its key: both sides as one, grouped by the key."""
        whose = [f"{name} {type_}" for name, type_ in self.record.items()]
        columns = ", ".join([SCHEMA, *whose, "name string"])
        stream = self.views(start).select(
            "json.k",
            F.lit("stream").alias("side"),
            F.struct("json.*", *self.record, F.lit(None).cast("string").alias("name")).alias("row"),
            F.lit(None).cast("long").alias("offset"),
        )
        table = self.records(self.options.table).select(
            F.col("key").cast("string").alias("k"),
            F.lit("table").alias("side"),
            F.from_json(F.col("value").cast("string"), columns).alias("row"),
            "offset",
        )
        newest = F.max_by(F.struct("row.name"), F.when(F.col("side") == "table", F.col("offset")))
        return (
            stream.unionByName(table)
            .groupBy("k")
            .agg(F.last(F.struct("side", "row")).alias("now"), newest.alias("newest"))
            .where("now.side = 'stream' AND newest.name IS NOT NULL")
            .select(
                *(f"now.row.{n}" for n in ("n", "k", "kind", "sent", *self.record)), "newest.name"
            )
            .select(
                F.col("k").alias("key"),
                _json("n", "k", "kind", "sent", "name"),
                *self.id(*RECORD),
            )
        )

    def id(self, *columns: str) -> list[Column]:
        """The header that names an output, where it is asked for."""
        header = F.struct(F.lit("id").alias("key"), _json(*columns).cast("binary").alias("value"))
        return [F.array(header).alias("headers")] if self.options.ids else []

    def run(self) -> None:
        if self.options.workload == "join":
            # The whole table first, in batches, on the checkpoint that real time goes on from.
            self.start(self.join("latest"), availableNow=True).awaitTermination()
        job = getattr(self, self.options.workload)()
        if self.options.style == "real-time":
            query = self.start(job, realTime=self.options.interval)
        else:
            query = self.start(job)
        print("ready", flush=True)
        query.awaitTermination()

    def start(self, rows: DataFrame, **trigger):  # type: ignore[no-untyped-def]
        writer = (
            rows.writeStream.format("kafka")
            .option("kafka.bootstrap.servers", self.options.servers)
            .option("topic", self.options.outputs)
            .option("checkpointLocation", self.options.checkpoint)
            .outputMode("update")
        )
        if self.options.style == "real-time":
            writer = writer.option("kafka.linger.ms", "0")
        return (writer.trigger(**trigger) if trigger else writer).start()


def _json(*columns: str):  # type: ignore[no-untyped-def]
    return F.to_json(F.struct(*columns)).alias("value")


if __name__ == "__main__":
    words = argparse.ArgumentParser(prog="tests.bench.by_hand")
    words.add_argument("--workload", choices=("filter", "count", "hopping", "join"), required=True)
    words.add_argument("--style", choices=("real-time", "tuned", "stock"), required=True)
    words.add_argument("--ids", action="store_true", help="name each output in a header")
    words.add_argument("--interval", help="the length of a real-time batch")
    for name in ("servers", "records", "table", "outputs", "checkpoint"):
        words.add_argument(f"--{name}", required=True)
    Jobs(words.parse_args()).run()
