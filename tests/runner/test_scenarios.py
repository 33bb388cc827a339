"""Every scenario, deployed to real Kafka in both modes, killed half way and resumed.

Several run together in one job, each a part of one graph with no edge to the others: a session
takes longer to start than a scenario to run.
"""

import json
import os
import uuid

import pytest
from confluent_kafka import Consumer, TopicPartition

from runner import launch
from runner.compile import compile_job
from runner.events import read_events
from runner.graph import read_graph
from runner.jars import spark_jars
from tests.runner import scenario
from tests.runner.drawn import SCENARIOS

# What the tests of every change deploy; `make scenarios` deploys all.
CHOSEN = {
    "auto": {
        "captcha", "not-viewing", "dead-letters", "explode-twice", "lookup", "sessions",
        "stream-join-left", "table-table-full", "processor-store",
    },
    "micro_batch": {"captcha", "sessions", "table-table-full"},
}  # fmt: skip
TOGETHER = 9


def groups(mode):
    """The scenarios of each job in a mode."""
    all_ = os.environ.get("HEADRACE_SCENARIOS")
    wanted = [path for path in SCENARIOS if all_ or path.stem in CHOSEN[mode]]
    return [wanted[i : i + TOGETHER] for i in range(0, len(wanted), TOGETHER)]


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


class Running:
    """Some scenarios in one job, and what has come out of it."""

    def __init__(self, folder, servers, mode, paths):
        self.prefix = uuid.uuid4().hex[:6] + "-"
        self.servers = servers
        self.told = {path.stem: scenario.load(path, f"{self.prefix}{path.stem}-") for path in paths}
        connections = {"local": {"type": "kafka", "bootstrap_servers": servers}}
        graph = together(self.told)
        self.job = compile_job(graph, name=f"{self.prefix}all", connections=connections, mode=mode)
        topics = [t["topic"] for t in self.job.topics if t["use"] == "read"]
        scenario.make_topics(servers, topics)
        self.deployment, self.epoch = folder, 0
        self.about = {
            "deployment": str(uuid.uuid4()), "run": str(uuid.uuid4()),
            "name": f"{self.prefix}all", "graph": graph.meaning(),
            "segments": [s.as_json() for s in self.job.segments],
            "topics": list(self.job.topics), "conf": dict(self.job.conf),
            "connections": connections, "checkpoints": str(folder / "checkpoints"),
            "master": None, "jars": [str(jar) for jar in spark_jars()],
        }  # fmt: skip
        self.process = None

    def start(self):
        """Start a run on the checkpoints of those before."""
        self.epoch += 1
        self.folder = self.deployment / str(self.epoch)
        self.folder.mkdir()
        (self.folder / "job.py").write_text(self.job.script)
        (self.folder / "run.json").write_text(json.dumps({**self.about, "epoch": self.epoch}))
        self.events, self.offset = [], 0
        self.process = launch.launch(self.folder)
        scenario.wait_until(self._not_running, 300)

    def kill(self):
        launch.kill(self.process)
        scenario.wait_until(self._still_alive, 60)

    def produce(self, batch):
        """Write a batch of every scenario."""
        for one in self.told.values():
            batches = one.batches()
            for source, rows in batches[batch].items() if batch < len(batches) else ():
                config = one.graph.by_id[source].config
                if one.graph.by_id[source].type != "lookup_table":
                    scenario.produce(self.servers, config["topics"][0], config, rows)

    def take_in(self):
        """Wait until all that is in the topics was read."""
        scenario.wait_until(self._unread, 180)

    def rows(self, name, sink):
        """What a scenario's sink has been given."""
        step = f"{name.replace('-', '_')}_{sink}"
        one = self.told[name].graph.by_id.get(sink)
        if one is not None and one.type == "console_sink" and not self._topics(step, "console"):
            return self._samples(step)
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

    def _samples(self, step):
        """The newest rows of each run, without those that a run has shown again."""
        rows = []
        for epoch in range(1, self.epoch + 1):
            events, _ = read_events(self.deployment / str(epoch) / "events.jsonl", 0)
            shown = [e for e in events if e["type"] == "sample" and e["step"] == step]
            rows += [row for row in (shown[-1]["rows"] if shown else []) if row not in rows]
        return rows

    def _topics(self, step, use):
        return [t["topic"] for t in self.job.topics if (t["step"], t["use"]) == (step, use)]

    def _read_events(self):
        new, self.offset = read_events(self.folder / "events.jsonl", self.offset)
        self.events += new

    def _still_alive(self):
        return "still alive" if launch.is_alive(self.process) else None

    def _not_running(self):
        self._read_events()
        states = [e for e in self.events if e["type"] == "state"]
        last = states[-1] if states else {"state": "nothing yet", "message": ""}
        assert launch.is_alive(self.process), f"{last['message']}\n{self._log()}"
        return None if last["state"] == "running" else last["state"]

    def _unread(self):
        self._read_events()
        assert launch.is_alive(self.process), self._log()
        told = [event for event in self.events if event["type"] == "metrics"]
        positions = {id_: s["position"] for id_, s in told[-1]["segments"].items()} if told else {}
        ends = self._ends()
        for segment in self.job.segments:
            steps = {*segment.steps} - {
                id_ for id_ in segment.steps if segment_reads_whole(self.job, id_)
            }
            topics = {
                t["topic"]
                for t in self.job.topics
                if t["use"] in ("read", "received") and t["step"] in steps
            }
            due, read = sum(ends[topic] for topic in topics), positions.get(segment.id) or 0
            if read < due:
                return f"{segment.id} has read {read} of {due}"
        return None

    def _ends(self):
        """How many records each topic that is read has been given."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "unused"})
        try:
            known = consumer.list_topics(timeout=10).topics
            names = {t["topic"] for t in self.job.topics if t["use"] in ("read", "received")}
            return {
                name: sum(
                    consumer.get_watermark_offsets(TopicPartition(name, n), timeout=10)[1]
                    for n in known[name].partitions
                )
                for name in names
            }
        finally:
            consumer.close()

    def _log(self):
        return (self.folder / "log.txt").read_text()[-3000:]


def segment_reads_whole(job, step):
    """Whether a step reads its topic as a whole, not record by record."""
    return job.plan.graph.by_id[step].type == "lookup_table"


RUNS = [(mode, n) for mode in CHOSEN for n in range(len(groups(mode)))]


@pytest.fixture(scope="module", params=RUNS, ids=[f"{mode}-{n}" for mode, n in RUNS])
def running(request, tmp_path_factory, broker):
    """Some scenarios in one mode, having read all their rows, killed half way."""
    mode, group = request.param
    folder = tmp_path_factory.mktemp(f"{mode}-{group}")
    job = Running(folder, broker, mode, groups(mode)[group])
    # A lookup is read when the job starts, so its rows must be there before.
    for one in job.told.values():
        for step in one.graph.steps:
            if step.type == "lookup_table":
                scenario.produce(broker, step.config["topics"][0], step.config, one.rows[step.id])
    try:
        job.start()
        batches = max(len(one.batches()) for one in job.told.values())
        for batch in range(batches):
            job.produce(batch)
            if batch == batches // 2:
                job.kill()
                job.start()
            job.take_in()
        yield job
    finally:
        launch.stop(job.process)
        scenario.wait_until(job._still_alive, 60)


def test_what_comes_out_is_what_should(running):
    """One test for each job: a job of its own for each scenario would take too long."""

    def differences():
        found = {}
        for name, one in running.told.items():
            for sink, expect in one.expect.items():
                rows = running.rows(name, sink)
                difference = scenario.difference(expect, rows, f"{running.prefix}{name}-")
                if difference:
                    found[name, sink] = difference
        return found

    scenario.wait_until(lambda: str(found) if (found := differences()) else None, 30)
