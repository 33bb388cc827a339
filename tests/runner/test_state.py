"""What a step remembers is its table: of every scenario, by rehearsing it and asking its state."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from runner import rehearse
from runner.check import check
from runner.graph import read_graph
from runner.plan import plan
from runner.state import Question, state
from runner.tables import tables
from tests.runner import scenario
from tests.runner.drawn import SCENARIOS

# What the tests of every change ask; `make scenarios` asks all.
CHOSEN = {
    "branch-two-states", "functions", "hopping-many", "sessions", "table-filter",
    "table-table-full",
}  # fmt: skip
ASKED = [p for p in SCENARIOS if p.stem in CHOSEN or os.environ.get("HEADRACE_SCENARIOS")]
CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}


def rehearsed(path: Path):
    """A scenario's plan, the rows of its steps, and the folder of the checkpoints it made."""
    told = json.loads(path.read_text())
    graph = read_graph(told["graph"])
    planned = plan(graph, check(graph, CONNECTIONS).rows, "micro_batch")
    given = {id_: list(rows) for id_, rows in told["rows"].items()}
    trial = rehearse._Trial(planned, CONNECTIONS, rehearse._records(graph, given), 10)
    trial.run(240)
    # A rehearsal's session has a name of its own for these files.
    for metadata in trial.folder.glob("*/state/*/_metadata/v2/*"):
        metadata.write_text(metadata.read_text().replace("scratch:/", "file:/"))
    for segment in planned.segments:
        if (trial.folder / segment.id).exists():
            (trial.folder / segment.checkpoint).symlink_to(trial.folder / segment.id)
    return planned, trial


def newest(rows, key):
    """What a table is after all its changes, as people see it."""
    found = {}
    for row in rows:
        found[json.dumps([row.get(name) for name in key])] = row
    there = [row for row in found.values() if not row.get("_deleted")]
    return [{k: v for k, v in row.items() if not k.startswith("_") or k in key} for row in there]


def counted(rows):
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


@pytest.mark.parametrize("path", ASKED, ids=lambda path: path.stem)
def test_what_a_step_remembers_is_its_table(path):
    planned, trial = rehearsed(path)
    try:
        told = trial.told().steps
        for table in tables(planned, "rehearsed"):
            if table.kept not in ("state", "side"):
                continue
            question = Question(table.step, limit=1000, live=False)
            answer = state(
                planned,
                CONNECTIONS,
                question,
                name="rehearsed",
                checkpoints=trial.folder,
                seconds=60,
            )
            expected = newest(told[table.step]["rows"], planned.rows[table.step].key)
            found = counted(answer.rows)
            assert found - counted(expected) == Counter(), table.step
            # Windows that have closed are forgotten.
            if "window" not in answer.key:
                assert counted(expected) - found == Counter(), table.step
            assert answer.rows or not expected, table.step
            if table.step == table.root and answer.rows:
                of = answer.rows[-1]
                key = {name: of[name] for name in answer.key if name != "window"}
                question = Question(table.step, key=json.dumps(key) if key else None, live=False)
                one = state(
                    planned,
                    CONNECTIONS,
                    question,
                    name="rehearsed",
                    checkpoints=trial.folder,
                    seconds=60,
                )
                same = [r for r in answer.rows if all(r[n] == v for n, v in key.items())]
                assert one.rows == same, table.step
    finally:
        trial.end()


def ask(job, planned, step, **question):
    """What is answered about a table of a job that runs."""
    return state(
        planned,
        job.about["connections"],
        Question(step, **question),
        name=job.about["name"],
        checkpoints=Path(job.about["checkpoints"]),
        seconds=60,
    )


def counting(prefix):
    """Clicks by user and page, whole in one topic; those of few clicks only, in another."""
    columns = [{"name": n, "type": "string"} for n in ("user", "page")]
    named = {"connection": "local"}
    steps = [
        ("clicks", "kafka_source", {"topics": [f"{prefix}clicks"], "columns": columns, **named}),
        (
            "counts",
            "aggregate",
            {"group_by": ["user", "page"], "aggregations": [{"name": "clicks"}]},
        ),
        ("out", "kafka_sink", {"topic": f"{prefix}counts", **named}),
        ("views", "kafka_source", {"topics": [f"{prefix}views"], "columns": columns, **named}),
        ("viewers", "aggregate", {"group_by": ["user"], "aggregations": [{"name": "views"}]}),
        ("few", "filter", {"condition": "views < 3"}),
        ("few_out", "kafka_sink", {"topic": f"{prefix}few", **named}),
    ]
    edges = [
        ("clicks", "counts"),
        ("counts", "out"),
        ("views", "viewers"),
        ("viewers", "few"),
        ("few", "few_out"),
    ]
    return {
        "version": 1,
        "steps": [{"id": i, "type": t, "config": c} for i, t, c in steps],
        "edges": [{"from": a, "to": b} for a, b in edges],
    }


@scenario.long
@pytest.mark.parametrize("mode", ["auto", "micro_batch"])
def test_an_answer_is_what_the_topic_has_while_the_job_runs(mode, make_job, broker):
    prefix = f"state-{mode.replace('_', '-')}-"
    scenario.make_topics(broker, [f"{prefix}clicks", f"{prefix}views"])
    job = make_job(counting(prefix), mode=mode, interval="2 minutes")
    graph = read_graph(job.about["graph"])
    planned = plan(graph, check(graph, job.about["connections"]).rows, mode)

    def click(user, page, times):
        text = json.dumps({"user": user, "page": page})
        scenario.write(broker, f"{prefix}clicks", [text] * times)
        scenario.write(broker, f"{prefix}views", [text] * times)

    def written(topic):
        """The newest row of each key in a topic."""
        rows = scenario.read_all(broker, [prefix + topic])
        by_key = {row.pop("_key"): row for row in rows}
        there = [row for row in by_key.values() if not row.get("_deleted")]
        return [
            {k: v for k, v in r.items() if k not in ("value", "_value", "_topic", "_partition")}
            for r in there
        ]

    def still_to_come():
        found = sum(row["clicks"] for row in written("counts"))
        few = written("few")
        return None if found == 7 and len(few) == 1 else f"{found} of 7; {few}"

    click("ann", "home", 2)
    job.start().wait_for("running")
    click("bob", "home", 1)
    click("ann", "home", 3)
    click("ann", "shop", 1)
    scenario.wait_until(still_to_come, 60)

    def differing():
        pairs = {"counts": "counts", "few": "few"}.items()
        found = {step: (ask(job, planned, step).rows, written(topic)) for step, topic in pairs}
        return None if all(counted(a) == counted(b) for a, b in found.values()) else str(found)

    # A micro-batch is committed just after what it wrote is to be seen.
    if mode == "micro_batch":
        scenario.wait_until(differing, 30)
    assert differing() is None
    answer = ask(job, planned, "counts", key='{"user": "ann", "page": "home"}')
    assert answer.rows == [{"user": "ann", "page": "home", "clicks": 5}]
    assert answer.source == ("topic" if mode == "auto" else "checkpoint")
    assert ask(job, planned, "counts", key='{"user": "eve"}').rows == []
    assert ask(job, planned, "few").rows == [{"user": "bob", "views": 1}]
    viewers = ask(job, planned, "viewers", prefix="a")
    if mode == "auto":
        assert viewers.rows == [{"user": "ann", "views": 2}]
        assert "every two minutes" in viewers.note
    else:
        assert viewers.rows == [{"user": "ann", "views": 6}]
    assert job.is_alive, job.log()
