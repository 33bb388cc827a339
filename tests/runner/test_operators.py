"""The state operators on real Spark: rows in by batch, rows out, in micro-batch and real time."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from runner.compile import CONF
from runner.jars import spark_jars
from tests.runner import scenario
from tests.runner.drawn import WITH_SCENARIOS
from tests.runner.scenario import wait_until

Row = dict[str, Any]
# The rows of each input, in the order of the operator's inputs.
Batch = tuple[list[Row], ...]


def at(second: int) -> str:
    """A time of event as Spark writes it."""
    return f"1970-01-01T00:{second // 60:02}:{second % 60:02}.000Z"


@dataclass
class Trial:
    """An operator over rows given by hand, and what has come out of it."""

    spark: SparkSession
    folder: Path
    operator: str
    options: dict[str, Any]
    columns: tuple[str, ...]
    # Each micro-batch's rows.
    out: list[tuple[int, list[Row]]] = field(default_factory=list)
    query: Any = None

    def __post_init__(self) -> None:
        jvm = self.spark._jvm
        streams = jvm.org.apache.spark.sql.execution.streaming.runtime.MemoryStream
        encoder = jvm.org.apache.spark.sql.Encoders.STRING()
        # One stream for all inputs: what is added to it at once is one batch.
        self.source = streams.apply(self.spark._jsparkSession, encoder)

    def rows(self) -> DataFrame:
        source = DataFrame(self.source.toDF(), self.spark)
        inputs = [
            source.select(F.from_json("value", f"input int, row struct<{columns}>").alias("it"))
            .where(F.col("it.input") == number)
            .select("it.row.*")
            for number, columns in enumerate(self.columns)
        ]
        return operate(self.spark, self.operator, inputs, self.options)

    def start(self) -> "Trial":
        whole = F.to_json(F.struct("*")).alias("it")

        def collect(rows: DataFrame, batch: int) -> None:
            self.out.append((batch, [json.loads(row.it) for row in rows.select(whole).collect()]))

        self.query = (
            self.rows()
            .writeStream.foreachBatch(collect)
            .outputMode("update")
            .option("checkpointLocation", str(self.folder))
            .start()
        )
        return self

    def give(self, *inputs: list[Row]) -> list[Row]:
        """What comes out because of one more batch."""
        before = len(self.out)
        self.add(*inputs)
        self.query.processAllAvailable()
        return [row for _, rows in self.out[before:] for row in rows]

    def add(self, *inputs: list[Row]) -> None:
        lines = [
            json.dumps({"input": number, "row": row})
            for number, rows in enumerate(inputs)
            for row in rows
        ]
        jvm = self.spark._jvm
        texts = jvm.scala.jdk.javaapi.CollectionConverters.asScala(lines).toSeq()
        self.source.addData(texts)

    def stop(self) -> None:
        if self.query is not None:
            self.query.stop()
            self.query = None


def operate(
    spark: SparkSession, operator: str, inputs: list[DataFrame], options: dict[str, Any]
) -> DataFrame:
    """Call an operator as the generated program does."""
    called = getattr(spark._jvm.headrace, operator)
    return DataFrame(called.apply([rows._jdf for rows in inputs], json.dumps(options)), spark)


MakeTrial = Callable[..., Trial]


@pytest.fixture
def make_trial(spark: SparkSession, tmp_path: Path) -> Iterator[MakeTrial]:
    made: list[Trial] = []

    def make(operator: str, options: dict[str, Any], *columns: str) -> Trial:
        folder = tmp_path / str(len(made))
        made.append(Trial(spark, folder, operator, options, columns))
        return made[-1].start()

    yield make
    for trial in made:
        trial.stop()


@dataclass(frozen=True)
class Case:
    name: str
    operator: str
    options: dict[str, Any]
    columns: tuple[str, ...]
    # What goes in, and what must come out because of it.
    batches: list[tuple[Batch, list[Row]]]


TABLE = "k string, v string, gone boolean, lane int, version bigint"
IDENTITY = {"deleted": "gone", "lane": ["lane"], "version": ["version"]}


def table(version: int, k: str | None, v: str | None, **more: Any) -> Row:
    """A row of a table; without a value it deletes."""
    return {"k": k, "v": v, "gone": v is None, "lane": 0, "version": version, **more}


def seen(row: Row) -> Row:
    """A row as Spark writes it: without what is null."""
    return {name: value for name, value in row.items() if value is not None}


def pair(left: Row | None, right: Row | None, **more: Any) -> Row:
    sides = {"left": left and seen(left), "right": right and seen(right)}
    return seen({**sides, **more})


def with_table(kind: str) -> dict[str, Any]:
    return {"on": [["k", "k"]], "kind": kind, **IDENTITY}


def tables(kind: str) -> dict[str, Any]:
    return {"on": [["k", "k"]], "kind": kind, "left": IDENTITY, "right": IDENTITY}


def streams(kind: str, before: int = 5, after: int = 10, grace: int = 0) -> dict[str, Any]:
    return {
        "on": [["k", "k"]],
        "kind": kind,
        "before": before * 1000,
        "after": after * 1000,
        "left_time": "at",
        "right_time": "at",
        "grace": grace * 1000,
    }


def change(left: Row | None, right: Row | None, batch: int, number: int, gone: bool = False) -> Row:
    """A row that joins two tables."""
    return pair(left, right, _deleted=gone, _version=(batch << 32) + number)


def e(n: int, k: str | None, second: int | None) -> Row:
    """An event."""
    return {"n": n, "k": k, "at": second}


def met(left: Row | None, right: Row | None) -> Row:
    times = [row["at"] for row in (left, right) if row and row["at"] is not None]
    return pair(left, right, **({"_timestamp": at(max(times))} if times else {}))


S1, S2, S3 = ({"n": n, "k": "a"} for n in (1, 2, 3))
A1, A2, A3, A4 = (table(n, "a", f"a{n}") for n in (1, 2, 3, 4))
GONE = table(3, "a", None)
EVENTS = "n int, k string, at bigint"
STREAM = "n int, k string"
CAME = ", came timestamp"


def came(row: Row, second: int) -> Row:
    """A row whose record claims a time."""
    return {**row, "came": at(second)}


CASES = [
    Case(
        "a stream's row meets its table's newest row, once",
        "JoinStreamTable",
        with_table("inner"),
        (STREAM, TABLE),
        [
            # In a micro-batch the table comes first, and its rows by their versions.
            (([S1, S2], [A2, A1]), [pair(S1, A2), pair(S2, A2)]),
            (([], [A3]), []),
            (([S3], []), [pair(S3, A3)]),
            # What the source sends again changes nothing.
            (([S3], [A2]), [pair(S3, A3)]),
            (([S3], [table(4, "a", None)]), []),
            (([S3], []), []),
            (
                ([{"n": 4, "k": "b"}], [table(1, "b", "b1")]),
                [pair({"n": 4, "k": "b"}, table(1, "b", "b1"))],
            ),
        ],
    ),
    Case(
        "without a row of the table, a stream's row leaves alone",
        "JoinStreamTable",
        with_table("left"),
        (STREAM, TABLE),
        [
            (([S1], []), [pair(S1, None)]),
            (([S2], [A1]), [pair(S2, A1)]),
            (([S3], [GONE]), [pair(S3, None)]),
            # No key equals no key.
            (([{"n": 4, "k": None}], [table(1, None, "x")]), [pair({"n": 4}, None)]),
        ],
    ),
    Case(
        "rows of another lane have other versions",
        "JoinStreamTable",
        with_table("inner"),
        (STREAM, TABLE),
        [
            (([], [A3]), []),
            (([S1], [{**A1, "lane": 1}]), [pair(S1, {**A1, "lane": 1})]),
            (([S1], [{**A1, "lane": 1, "v": "again"}]), [pair(S1, {**A1, "lane": 1})]),
        ],
    ),
    Case(
        "a stream's row comes no sooner than the one before it in its lane, whatever its time",
        "JoinStreamTable",
        {
            **with_table("left"),
            "left": {"lane": ["k"], "version": ["n"]},
            "arrived": "came",
        },
        (STREAM + CAME, TABLE + CAME),
        [
            (
                ([came(S2, 4), came(S1, 20)], [came(A1, 10)]),
                [pair(came(S1, 20), came(A1, 10)), pair(came(S2, 4), came(A1, 10))],
            ),
            (
                ([came(S3, 7)], [came(A2, 9), came(GONE, 3)]),
                [pair(came(S3, 7), came(A1, 10))],
            ),
            (([came({"n": 4, "k": "a"}, 1)], []), [pair(came({"n": 4, "k": "a"}, 1), None)]),
        ],
    ),
    Case(
        "the newest row of a table is that of the highest version, whatever its time",
        "JoinTables",
        {**tables("full"), "arrived": "came"},
        (TABLE + CAME, TABLE + CAME),
        [
            (
                ([came(table(2, "a", None), 3), came(A1, 9)], []),
                [change(came(A1, 9), None, 0, 0), change(came(A1, 9), None, 0, 1, gone=True)],
            ),
            (
                ([came(A4, 2), came(A3, 8)], []),
                [
                    change(came(A3, 8), None, 1, 0),
                    change(came(A4, 2), None, 1, 1),
                ],
            ),
        ],
    ),
    Case(
        "two tables, where both have a row",
        "JoinTables",
        tables("inner"),
        (TABLE, TABLE),
        [
            (([A1], []), []),
            (([], [A1]), [change(A1, A1, 0, 1)]),
            (([A2], [A2]), [change(A2, A1, 0, 2), change(A2, A2, 0, 3)]),
            # Repeats, and the deletion of what is not there.
            (([A1], [A2, table(1, "b", None)]), []),
            # Equal values are a change all the same.
            (([{**A2, "version": 3}], []), [change({**A2, "version": 3}, A2, 0, 4)]),
            (([], [GONE]), [change({**A2, "version": 3}, A2, 0, 5, gone=True)]),
            (([], [table(4, "a", None)]), []),
            (
                ([], [table(5, "a", "a5")]),
                [change({**A2, "version": 3}, table(5, "a", "a5"), 0, 6)],
            ),
        ],
    ),
    Case(
        "two tables, all of the left",
        "JoinTables",
        tables("left"),
        (TABLE, TABLE),
        [
            (([A1], []), [change(A1, None, 0, 0)]),
            (([], [A1]), [change(A1, A1, 0, 1)]),
            (([], [table(2, "a", None)]), [change(A1, None, 0, 2)]),
            (([], [A3]), [change(A1, A3, 0, 3)]),
            (([table(2, "a", None)], []), [change(A1, A3, 0, 4, gone=True)]),
            (([], [A4]), []),
            (([A3], []), [change(A3, A4, 0, 6)]),
            (([table(4, "a", None)], [table(5, "a", None)]), [change(A3, A4, 0, 7, gone=True)]),
            # Nothing was left; a key that comes back is above what it has been.
            (([table(5, "a", "a5")], []), [change(table(5, "a", "a5"), None, 8, 0)]),
        ],
    ),
    Case(
        "two tables, all of both",
        "JoinTables",
        tables("full"),
        (TABLE, TABLE),
        [
            (([], [A1]), [change(None, A1, 0, 0)]),
            (([A1], [A2]), [change(A1, A1, 0, 1), change(A1, A2, 0, 2)]),
            (([table(2, "a", None)], []), [change(None, A2, 0, 3)]),
            (([], [GONE]), [change(None, A2, 0, 4, gone=True)]),
            (([GONE], [table(4, "a", None)]), []),
        ],
    ),
    Case(
        "a key that goes and comes back within a batch",
        "JoinTables",
        tables("full"),
        (TABLE, TABLE),
        [
            (
                ([A1, table(2, "a", None), A3, table(4, "a", None)], []),
                [
                    change(A1, None, 0, 0),
                    change(A1, None, 0, 1, gone=True),
                    change(A3, None, 0, 2),
                    change(A3, None, 0, 3, gone=True),
                ],
            ),
            (([A1], []), [change(A1, None, 1, 0)]),
        ],
    ),
    Case(
        "rows without a key never meet",
        "JoinTables",
        tables("full"),
        (TABLE, TABLE),
        [
            (
                ([table(1, None, "l")], [table(1, None, "r")]),
                [
                    change(table(1, None, "l"), None, 0, 0),
                    change(None, table(1, None, "r"), 0, 1),
                ],
            ),
            (([table(2, None, None)], []), [change(table(1, None, "l"), None, 0, 2, gone=True)]),
            (([], [table(2, None, None)]), [change(None, table(1, None, "r"), 0, 3, gone=True)]),
        ],
    ),
    Case(
        "two streams, within a time",
        "JoinStreams",
        streams("inner"),
        (EVENTS, EVENTS),
        [
            (([e(1, "a", 100)], []), []),
            (
                # Five seconds before and ten after belong to it.
                ([], [e(n, "a", at) for n, at in enumerate((94, 95, 110, 111))]),
                [
                    met(e(1, "a", 100), e(1, "a", 95)),
                    met(e(1, "a", 100), e(2, "a", 110)),
                ],
            ),
            (([], [e(5, "b", 100), e(6, None, 100), e(7, "a", None)]), []),
            (
                ([e(2, "a", 100), e(3, None, 100), e(4, "a", None)], [e(8, "a", 105)]),
                [
                    met(e(2, "a", 100), e(1, "a", 95)),
                    met(e(2, "a", 100), e(2, "a", 110)),
                    met(e(1, "a", 100), e(8, "a", 105)),
                    met(e(2, "a", 100), e(8, "a", 105)),
                ],
            ),
        ],
    ),
    Case(
        "two streams, all of the left",
        "JoinStreams",
        streams("left"),
        (EVENTS, EVENTS),
        [
            (
                ([e(1, "a", 100), e(2, "b", 100)], [e(1, "b", 101)]),
                [met(e(2, "b", 100), e(1, "b", 101))],
            ),
            # The slower input says how late it is.
            (([e(3, "c", 500)], []), []),
            (([], [e(2, "z", 111)]), [met(e(1, "a", 100), None)]),
            (([], [e(3, "z", 520)]), []),
            (([e(4, "d", 520)], []), [met(e(3, "c", 500), None)]),
            # No match can come without time or key.
            (
                ([e(5, "a", None), e(6, None, 530)], []),
                [met(e(6, None, 530), None), met(e(5, "a", None), None)],
            ),
        ],
    ),
    Case(
        "two streams, all of both",
        "JoinStreams",
        streams("full"),
        (EVENTS, EVENTS),
        [
            (
                (
                    [e(1, "a", 100)],
                    [e(1, "a", 120), e(2, "a", 120), e(3, "a", None), e(4, None, 9)],
                ),
                [met(None, e(4, None, 9)), met(None, e(3, "a", None))],
            ),
            (
                ([e(2, "a", 115)], []),
                [
                    *(met(e(2, "a", 115), e(n, "a", 120)) for n in (1, 2)),
                    met(e(1, "a", 100), None),
                ],
            ),
            (([e(3, "b", 130)], [e(5, "b", 130)]), [met(e(3, "b", 130), e(5, "b", 130))]),
            # Late rows are not lost: one meets what is kept, the other comes out alone.
            (
                ([e(4, "b", 120), e(5, "b", 20)], []),
                [met(e(4, "b", 120), e(5, "b", 130)), met(e(5, "b", 20), None)],
            ),
        ],
    ),
    Case(
        "equal rows pass once within a time",
        "Deduplicate",
        {"columns": ["k"], "time": "at", "within": 10_000},
        (EVENTS,),
        [
            # By time, within a batch; exactly the time away is within.
            (([e(1, "a", 110), e(2, "a", 100), e(3, "b", 105)],), [e(2, "a", 100), e(3, "b", 105)]),
            (([e(4, "a", 90), e(5, "a", 95)],), []),
            (([e(6, "a", 111)],), [e(6, "a", 111)]),
            (([e(7, "a", 121)],), []),
            # Clearly earlier than any that passed.
            (([e(8, "a", 80)],), [e(8, "a", 80)]),
            (([e(9, "a", 122)],), [e(9, "a", 122)]),
            (([e(10, None, 122), e(11, None, 123)],), [seen(e(10, None, 122))]),
            # So late that what it may repeat is forgotten.
            (([e(14, "a", 85)],), [e(14, "a", 85)]),
            (([e(12, "a", None), e(13, "a", None)],), [seen(e(n, "a", None)) for n in (12, 13)]),
        ],
    ),
    Case(
        "the row that came first passes, not the one of the earliest time",
        "Deduplicate",
        {"columns": ["k"], "time": "at", "within": 10_000, "version": ["n"]},
        (EVENTS,),
        [(([e(2, "a", 100), e(1, "a", 110), e(3, "a", 121)],), [e(1, "a", 110), e(3, "a", 121)])],
    ),
    Case(
        "no row passes twice",
        "DropRepeats",
        {"key": ["k"], "lane": ["lane"], "version": ["major", "minor"]},
        ("k string, lane string, major int, minor decimal(20,0)",),
        [
            (
                (
                    [
                        {"k": "a", "lane": "x", "major": 1, "minor": 10},
                        {"k": "a", "lane": "x", "major": 1, "minor": 9},
                        {"k": "a", "lane": "x", "major": 1, "minor": 9},
                        {"k": "a", "lane": "y", "major": 0, "minor": 9},
                        {"lane": "x", "major": 0, "minor": 9},
                    ],
                ),
                [
                    {"lane": "x", "major": 0, "minor": 9},
                    {"k": "a", "lane": "x", "major": 1, "minor": 9},
                    {"k": "a", "lane": "x", "major": 1, "minor": 10},
                    {"k": "a", "lane": "y", "major": 0, "minor": 9},
                ],
            ),
            (
                (
                    [
                        {"k": "a", "lane": "x", "major": 1, "minor": 10},
                        {"lane": "x", "major": 0, "minor": 9},
                    ],
                ),
                [],
            ),
            (
                ([{"k": "a", "lane": "x", "major": 2, "minor": 1}],),
                [{"k": "a", "lane": "x", "major": 2, "minor": 1}],
            ),
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_in_micro_batches(case: Case, make_trial: MakeTrial) -> None:
    trial = make_trial(case.operator, case.options, *case.columns)
    for number, (given, expected) in enumerate(case.batches):
        assert trial.give(*given) == [seen(row) for row in expected], f"batch {number}"


ODD = (
    "`a b` string, ```` decimal(10,2), K timestamp, nested struct<`x y`: array<struct<n: int>>>,"
    " named map<string, array<double>>, raw binary, day date, lane string, `Version` bigint,"
    " gone boolean"
)
ODD_ROW = {
    "a b": "ä",
    "`": 1.25,
    "K": at(100),
    "nested": {"x y": [{"n": 1}, {}]},
    "named": {"one": [1.5], "two": []},
    "raw": "AAE=",
    "day": "2026-01-31",
    "lane": "0",
    "Version": 1,
    "gone": False,
}
ODD_TABLE = {"deleted": "gone", "lane": ["lane"], "version": ["Version"]}
ODD_ON = [[name, name] for name in ("a b", "`", "K", "nested", "raw")]


@pytest.mark.parametrize(
    ("operator", "options", "expected"),
    [
        ("JoinStreamTable", {"on": ODD_ON, "kind": "inner", **ODD_TABLE}, [pair(ODD_ROW, ODD_ROW)]),
        (
            "JoinTables",
            {"on": ODD_ON, "kind": "inner", "left": ODD_TABLE, "right": ODD_TABLE},
            [change(ODD_ROW, ODD_ROW, 0, 1)],
        ),
        (
            "JoinStreams",
            {**streams("inner"), "on": ODD_ON, "left_time": "K", "right_time": "K"},
            [pair(ODD_ROW, ODD_ROW, _timestamp=at(100))],
        ),
        (
            "Deduplicate",
            {"columns": ["a b", "`", "nested", "raw"], "time": "K", "within": 1000},
            [ODD_ROW],
        ),
        ("DropRepeats", {"key": ["a b", "`"], "lane": ["lane"], "version": ["Version"]}, [ODD_ROW]),
    ],
)
def test_names_and_types_of_any_kind(
    operator: str, options: dict[str, Any], expected: list[Row], make_trial: MakeTrial
) -> None:
    inputs = 2 if operator.startswith("Join") else 1
    trial = make_trial(operator, options, *[ODD] * inputs)
    assert trial.give(*[[ODD_ROW]] * inputs) == expected
    # What is kept is as whole as what came in.
    if operator == "JoinStreamTable":
        assert trial.give([ODD_ROW], []) == expected


def test_a_batch_that_runs_again_gives_the_same_versions(make_trial: MakeTrial) -> None:
    trial = make_trial("JoinTables", tables("full"), TABLE, TABLE)
    trial.give([A1], [])
    trial.give([table(2, "a", None), A3, table(1, "b", "b1"), table(2, "b", None)], [A1, A2])
    trial.give([table(4, "a", None)], [GONE, table(1, "b", "b1")])
    trial.stop()
    first = dict(trial.out)
    (trial.folder / "commits" / "2").unlink()
    trial.out.clear()
    trial.start()
    trial.give([A4], [])
    again = dict(trial.out)
    assert again[2] == first[2]
    assert again[3] == [change(A4, None, 3, 0)]
    by_key: dict[str, list[int]] = {}
    for row in (row for rows in (*first.values(), again[3]) for row in rows):
        key = (row.get("left") or row["right"])["k"]
        by_key.setdefault(key, []).append(row["_version"])
    for versions in by_key.values():
        assert versions == sorted(set(versions))


LIVE = [
    {
        "name": "with-table",
        "operator": "JoinStreamTable",
        "options": with_table("left"),
        "columns": [STREAM, TABLE],
    },
    {
        "name": "tables",
        "operator": "JoinTables",
        "options": tables("full"),
        "columns": [TABLE, TABLE],
    },
    {
        "name": "streams",
        "operator": "JoinStreams",
        "options": streams("left"),
        "columns": [EVENTS, EVENTS],
    },
    {
        "name": "distinct",
        "operator": "Deduplicate",
        "options": {"columns": ["k"], "time": "at", "within": 10_000},
        "columns": [EVENTS],
    },
    {
        "name": "once",
        "operator": "DropRepeats",
        "options": {"key": ["k"], "lane": ["lane"], "version": ["version"]},
        "columns": [TABLE],
    },
]


@WITH_SCENARIOS
def test_real_time_goes_on_from_micro_batches(broker: str, tmp_path: Path) -> None:
    names = [query["name"] for query in LIVE]
    topics = [f"{name}-{end}" for name in names for end in ("0", "1", "out")]
    scenario.make_topics(broker, topics, partitions=1)

    def give(name: str, *inputs: list[Row]) -> None:
        for number, rows in enumerate(inputs):
            values = [{"value": json.dumps(row)} for row in rows]
            scenario.produce(broker, f"{name}-{number}", {"format": "text"}, values)

    def out(name: str) -> list[Row]:
        return [json.loads(row["_value"]) for row in scenario.read_all(broker, [f"{name}-out"])]

    def wait_for(name: str, *expected: Row) -> None:
        def missing() -> str | None:
            there = out(name)
            gone = [row for row in expected if seen(row) not in there]
            return f"{name} lacks {gone} in {there}" if gone else None

        wait_until(missing, 90)

    def run(mode: str) -> "subprocess.Popen[str]":
        spec = {"broker": broker, "folder": str(tmp_path), "mode": mode, "queries": LIVE}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.runner.test_operators", json.dumps(spec)],
            stdin=subprocess.PIPE,
            stdout=(tmp_path / f"{mode}.log").open("w"),
            stderr=subprocess.STDOUT,
            text=True,
        )

    give("with-table", [], [A1])
    give("tables", [A1], [table(1, "b", "b1")])
    give("streams", [e(1, "a", 100), e(2, "b", 100)], [e(1, "z", 1)])
    give("distinct", [e(1, "a", 100)])
    give("once", [A1])
    first = run("micro_batch")
    assert first.wait(180) == 0, (tmp_path / "micro_batch.log").read_text()[-3000:]
    b1 = change(None, table(1, "b", "b1"), 0, 0)
    assert sorted(map(str, out("tables"))) == sorted(map(str, [change(A1, None, 0, 0), b1]))
    assert (out("with-table"), out("streams")) == ([], [])

    second = run("real_time")
    try:
        give("with-table", [S1], [])
        give("tables", [table(1, "b", "left")], [A2, A3])
        give("streams", [], [e(2, "a", 105)])
        give("distinct", [e(2, "a", 105), e(3, "a", 111)])
        give("once", [A1, A2, A1, A3])
        wait_for("with-table", pair(S1, A1))
        wait_for("tables", change(A1, A2, 0, 1), change(A1, A3, 0, 2))
        wait_for("streams", met(e(1, "a", 100), e(2, "a", 105)))
        wait_for("distinct", e(3, "a", 111))
        wait_for("once", A3)

        # What has been deleted is met no more; the order between two topics is not promised.
        give("with-table", [], [table(2, "a", None)])

        def met_after_deletion() -> str | None:
            give("with-table", [S2], [])
            return None if pair(S2, None) in out("with-table") else f"{out('with-table')}"

        wait_until(met_after_deletion, 60)

        # More keys than an operator has in memory.
        many = [table(n, f"k{n}", f"v{n}") for n in range(2_500)]
        each = [{"n": n, "k": row["k"]} for n, row in enumerate(many)]
        give("with-table", [], many)

        def met_last() -> str | None:
            last = {"n": len(many), "k": many[-1]["k"]}
            give("with-table", [last], [])
            wanted = pair(last, many[-1])
            return None if wanted in out("with-table") else "The table is not whole yet."

        wait_until(met_last, 60)
        give("with-table", [*each, S3], [])
        wait_for("with-table", *map(pair, each, many), pair(S3, None))
        give("tables", [GONE], [])
        wait_for("tables", change(None, A3, 0, 3))
        give("tables", [], [table(4, "a", None)])
        wait_for("tables", change(None, A3, 0, 4, gone=True))

        # The watermark moves between batches, and with it those come out that met none.
        give("streams", [e(3, "y", 200)], [e(3, "x", 200)])
        wait_for("streams", met(e(2, "b", 100), None))
        give("once", [A2])
    finally:
        second.communicate("", timeout=60)
    assert second.returncode == 0, (tmp_path / "real_time.log").read_text()[-3000:]
    assert [row["version"] for row in out("once")] == [1, 2, 3]
    assert [row["n"] for row in out("distinct")] == [1, 3]
    assert len(out("streams")) == 2


def run_queries(spec: dict[str, Any]) -> None:
    """Run operators from Kafka to Kafka: to the end of what is there, or live until told."""
    builder = SparkSession.builder.master("local[32]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars", ",".join(map(str, spark_jars())))
    for name, value in CONF.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    live = spec["mode"] == "real_time"

    def source(topic: str, columns: str) -> DataFrame:
        rows = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", spec["broker"])
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .load()
        )
        it = F.from_json(F.col("value").cast("string"), columns).alias("it")
        return rows.select(it).select("it.*")

    queries = []
    for query in spec["queries"]:
        name = query["name"]
        inputs = [source(f"{name}-{n}", columns) for n, columns in enumerate(query["columns"])]
        queries.append(
            operate(spark, query["operator"], inputs, query["options"])
            .select(F.to_json(F.struct("*")).alias("value"))
            .writeStream.format("kafka")
            .queryName(name)
            .outputMode("update")
            .option("kafka.bootstrap.servers", spec["broker"])
            .option("kafka.linger.ms", "0")
            .option("topic", f"{name}-out")
            .option("checkpointLocation", f"{spec['folder']}/{name}")
            .trigger(**({"realTime": "5 seconds"} if live else {"availableNow": True}))
            .start()
        )
    if live:
        sys.stdin.read()
        for running in queries:
            if running.exception() is not None:
                sys.exit(str(running.exception()))
            running.stop()
    for running in queries:
        running.awaitTermination()


if __name__ == "__main__":
    run_queries(json.loads(sys.argv[1]))
