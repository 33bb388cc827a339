"""How long a table of a million keys takes to answer: `python -m tests.bench.state [keys]`.

The state is made by the program's own statements, from records in files instead of Kafka's, and
committed in a few batches. Nothing is answered from a topic.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from runner.analyze import warm_session
from runner.check import check
from runner.compile import PRELUDE, Program
from runner.graph import read_graph
from runner.plan import Plan, plan
from runner.state import Question, state

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}
FILES = 4


def graph() -> dict[str, Any]:
    """A count and a reduction of each user's clicks."""
    columns = [{"name": "user", "type": "string"}, {"name": "n", "type": "bigint"}]
    count = {"group_by": ["user"], "aggregations": [{"name": "clicks"}]}
    steps = [
        ("clicks", "kafka_source", {"connection": "local", "topics": ["c"], "columns": columns}),
        ("counts", "aggregate", count),
        ("out", "kafka_sink", {"connection": "local", "topic": "counts"}),
        ("totals", "reduce", {"group_by": ["user"], "initial": "0L", "expression": "acc + n"}),
        ("sums", "kafka_sink", {"connection": "local", "topic": "sums"}),
    ]
    edges = [("clicks", "counts"), ("counts", "out"), ("clicks", "totals"), ("totals", "sums")]
    return {
        "version": 1,
        "steps": [{"id": i, "type": t, "config": c} for i, t, c in steps],
        "edges": [{"from": a, "to": b} for a, b in edges],
    }


def remember(planned: Plan, folder: Path, keys: int) -> None:
    """Have each segment remember so many keys."""
    spark = warm_session().newSession()
    user = F.concat(F.lit("user-"), F.lpad(F.col("id").cast("string"), 9, "0"))
    spark.range(keys).repartition(FILES).select(
        F.lit(None).cast("binary").alias("key"),
        F.to_json(F.struct(user.alias("user"), (F.col("id") % 100).alias("n")))
        .cast("binary")
        .alias("value"),
        F.lit("c").alias("topic"),
        F.lit(0).alias("partition"),
        F.col("id").alias("offset"),
        F.current_timestamp().alias("timestamp"),
        F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
    ).write.parquet(str(folder / "records"))
    schema = spark.read.parquet(str(folder / "records")).schema
    records = (
        spark.readStream.schema(schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "records"))
    )
    program = Program("bench", planned, CONNECTIONS, given={"clicks": "RECORDS"})
    space: dict[str, Any] = {"spark": spark, "F": F, "RECORDS": records, "CONNECTIONS": {}}
    exec(PRELUDE, space)
    for segment in planned.segments:
        if segment.shape == "dead_letters":
            continue
        for id_ in segment.steps:
            step = planned.graph.by_id[id_]
            if id_ not in segment.sinks:
                exec("".join(program.statement(step, observed=False)), space)
        query = (
            space[segment.trunk]
            .writeStream.format("noop")
            .outputMode("update")
            .option("checkpointLocation", str(folder / segment.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


def main() -> None:
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    drawn = read_graph(graph())
    planned = plan(drawn, check(drawn, CONNECTIONS).rows, "micro_batch")
    folder = Path(tempfile.mkdtemp(prefix="headrace-bench-state-"))
    try:
        begin = time.monotonic()
        remember(planned, folder, keys)
        print(f"{keys:,} keys remembered twice in {time.monotonic() - begin:.1f} s", flush=True)
        questions = {
            "one key": {"key": "user-000000042"},
            "a key that is not there": {"key": "nobody"},
            "a prefix": {"prefix": "user-0000001"},
            "all, 100 of them": {},
            "all, 1,000 of them": {"limit": 1000},
        }
        for step in ("counts", "totals"):
            for name, asked in questions.items():
                took, answer = [], None
                for _ in range(3):
                    begin = time.monotonic()
                    answer = state(
                        planned,
                        CONNECTIONS,
                        Question(step, **asked),  # type: ignore[arg-type]
                        name="bench",
                        checkpoints=folder,
                        seconds=120,
                    )
                    took.append(time.monotonic() - begin)
                assert answer is not None
                times = ", ".join(f"{seconds:.2f}" for seconds in took)
                more = " and more" if answer.more else ""
                print(f"{step}, {name}: {times} s; {len(answer.rows)} rows{more}", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
