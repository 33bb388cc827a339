"""An exported program runs by plain spark-submit, with nothing of Headrace on its path."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import requests

from runner.jars import spark_jars
from tests.runner import scenario

SCENARIOS = Path(__file__).parents[1] / "runner" / "scenarios"


def test_exported_program_runs_without_headrace(headrace, tmp_path):
    prefix = f"{uuid.uuid4().hex[:6]}-"
    told = scenario.load(SCENARIOS / "word-count.json", prefix)
    graph = told.graph.meaning()
    pipeline = headrace.post("/api/pipelines", {"name": f"{prefix}export", "graph": graph})
    exported = requests.get(
        f"{headrace.url}/api/pipelines/{pipeline['id']}/export?format=pyspark",
        headers=headrace.session.headers,
        timeout=20,
    )
    (tmp_path / "job.py").write_text(exported.text)
    config = told.graph.by_id["lines"].config
    scenario.make_topics(headrace.servers, config["topics"])
    for batch in told.batches():
        scenario.produce(headrace.servers, config["topics"][0], config, batch["lines"])

    submit = Path(sys.executable).with_name("spark-submit")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        **({"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}),
    }
    jars = ",".join(map(str, spark_jars()))
    with (tmp_path / "log").open("wb") as log:
        job = subprocess.Popen(
            [submit, "--master", "local[8]", "--jars", jars, "job.py"],
            cwd=tmp_path, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        sink = told.graph.by_id["out"].config["topic"]

        def check():
            assert job.poll() is None, (tmp_path / "log").read_text()[-3000:]
            rows = scenario.read_all(headrace.servers, [sink])
            return scenario.difference(told.expect["out"], rows, prefix)

        headrace.until(check, 60)
    finally:
        job.terminate()
        job.wait(20)
