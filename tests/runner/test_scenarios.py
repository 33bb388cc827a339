"""Every scenario, deployed to real Kafka: in auto mode, and all in micro-batch.

They run together in one job, each a part of one graph with no edge to the others: a session
takes longer to start than a scenario to run.
"""

import json
import uuid
from pathlib import Path

import pytest

from runner import launch
from runner.compile import compile_job
from runner.events import read_events
from runner.graph import read_graph
from runner.jars import spark_jars
from tests.runner import scenario

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("*.json"))


def together(told):
    """One graph of many: each step's id begins with its scenario's name."""
    steps, edges = [], []
    for name, one in told.items():
        begin = name.replace("-", "_") + "_"
        data = one.graph.meaning()
        steps += [{**step, "id": begin + step["id"]} for step in data["steps"]]
        edges += [
            {**edge, "from": begin + edge["from"], "to": begin + edge["to"]}
            for edge in data["edges"]
        ]
    return read_graph({"version": 1, "steps": steps, "edges": edges})


def counted(source, rows, batch):
    """How many of a source's rows, up to a batch, a job counts as read."""
    if source.type == "lookup_table":
        return 0
    skips = source.config.get("on_bad_record") == "skip"
    return sum(r.get("_batch", 0) <= batch and not (skips and "value" in r) for r in rows)


class Running:
    """All scenarios in one job, and what has come out of it."""

    def __init__(self, folder, servers, mode):
        self.prefix = uuid.uuid4().hex[:6] + "-"
        self.servers = servers
        self.told = {
            path.stem: scenario.load(path, f"{self.prefix}{path.stem}-") for path in SCENARIOS
        }
        connections = {"local": {"type": "kafka", "bootstrap_servers": servers}}
        graph = together(self.told)
        self.job = compile_job(graph, name=f"{self.prefix}all", connections=connections, mode=mode)
        topics = [t["topic"] for t in self.job.topics if t["use"] == "read"]
        scenario.make_topics(servers, topics)
        self.folder = folder
        (folder / "job.py").write_text(self.job.script)
        about = {
            "deployment": str(uuid.uuid4()), "run": str(uuid.uuid4()),
            "name": f"{self.prefix}all", "epoch": 1, "graph": graph.meaning(),
            "segments": [s.as_json() for s in self.job.segments],
            "topics": list(self.job.topics), "conf": dict(self.job.conf),
            "connections": connections, "checkpoints": str(folder / "checkpoints"),
            "master": None, "jars": [str(jar) for jar in spark_jars()],
        }  # fmt: skip
        (folder / "run.json").write_text(json.dumps(about))
        self.events, self.offset = [], 0

    def start(self):
        self.process = launch.launch(self.folder)
        scenario.wait_until(self._not_running, 300)

    def produce(self, batch):
        """Write a batch of every scenario and wait until all of it was read."""
        for one in self.told.values():
            batches = one.batches()
            for source, rows in batches[batch].items() if batch < len(batches) else ():
                config = one.graph.by_id[source].config
                scenario.produce(self.servers, config["topics"][0], config, rows)
        scenario.wait_until(lambda: self._unread(batch), 120)

    def rows(self, name, sink):
        """What a scenario's sink has been given."""
        step = f"{name.replace('-', '_')}_{sink}"
        one = self.told[name].graph.by_id.get(sink)
        if one is not None and one.type == "console_sink" and not self._topics(step, "console"):
            self._read_events()
            samples = [e for e in self.events if e["type"] == "sample" and e["step"] == step]
            return samples[-1]["rows"] if samples else []
        if sink == "dead_letters":
            begin = name.replace("-", "_")
            topics = [
                t["topic"]
                for t in self.job.topics
                if t["use"] == "dead_letters" and t["step"].startswith(begin)
            ]
        elif one.type == "console_sink":
            topics = self._topics(step, "console")
        elif one.config.get("topic"):
            topics = [one.config["topic"]]
        else:
            begin = f"{self.prefix}{name}-"
            topics = [begin + row["_topic"] for row in self.told[name].expect[sink]["rows"]]
        return scenario.read_all(self.servers, topics)

    def _topics(self, step, use):
        return [t["topic"] for t in self.job.topics if (t["step"], t["use"]) == (step, use)]

    def _read_events(self):
        new, self.offset = read_events(self.folder / "events.jsonl", self.offset)
        self.events += new

    def _not_running(self):
        self._read_events()
        states = [e for e in self.events if e["type"] == "state"]
        last = states[-1] if states else {"state": "nothing yet", "message": ""}
        assert launch.is_alive(self.process), f"{last['message']}\n{self._log()}"
        return None if last["state"] == "running" else last["state"]

    def _unread(self, batch):
        self._read_events()
        assert launch.is_alive(self.process), self._log()
        counts = {}
        for event in self.events:
            if event["type"] == "metrics":
                counts |= event["steps"]
        for name, one in self.told.items():
            for source, rows in one.rows.items():
                step = counts.get(f"{name.replace('-', '_')}_{source}", {})
                read = (step.get("out") or 0) + (step.get("dropped") or 0)
                due = counted(one.graph.by_id[source], rows, batch)
                if read < due:
                    return f"{name}: {source} has read {read} of {due}"
        return None

    def _log(self):
        return (self.folder / "log.txt").read_text()[-3000:]


@pytest.fixture(scope="module", params=["auto", "micro_batch"])
def running(request, tmp_path_factory, broker):
    """All scenarios, having read all their rows."""
    job = Running(tmp_path_factory.mktemp(request.param), broker, request.param)
    # A lookup is read when the job starts, so its rows must be there before.
    for one in job.told.values():
        for step in one.graph.steps:
            if step.type == "lookup_table":
                scenario.produce(broker, step.config["topics"][0], step.config, one.rows[step.id])
    try:
        job.start()
        most = max(len(one.batches()) for one in job.told.values())
        for batch in range(most):
            job.produce(batch)
        yield job
    finally:
        launch.stop(job.process)
        scenario.wait_until(lambda: "still alive" if launch.is_alive(job.process) else None, 60)


@pytest.mark.parametrize("name", [path.stem for path in SCENARIOS])
def test_what_comes_out_is_what_should(running, name):
    for sink, expect in running.told[name].expect.items():

        def check(sink=sink, expect=expect):
            rows = running.rows(name, sink)
            return scenario.difference(expect, rows, f"{running.prefix}{name}-")

        scenario.wait_until(check, 60)
