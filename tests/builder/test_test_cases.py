"""Test cases: kept, run by a real spark worker, compared, told to deployments and to CI."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from builder.access.models import Activity
from builder.deployments.models import Deployment
from builder.deployments.reconcile import reconcile
from builder.pipelines import models
from builder.pipelines.actions import MOST_EXPECTED, MOST_GIVEN
from builder.pipelines.junit import junit
from builder.pipelines.models import Pipeline
from builder.pipelines.run_test_case import Outcome
from runner.row_diff import row_diff

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("local")

LINES = {"lines": [{"value": "to be"}, {"value": "or not to", "_batch": 1}]}
WORDS = [{"value": "to be", "word": word} for word in ("be", "to")]
WORDS += [{"value": "or not to", "word": word} for word in ("to", "not", "or")]
GOOD = {"name": "words", "rows": LINES, "expected": {"words": WORDS}}
BAD = {
    "name": "counts",
    "rows": LINES,
    "expected": {
        "counts": [
            {"word": "be", "count": 1},
            {"word": "to", "count": 1},
            {"word": "to", "count": 3},
            {"word": "or", "count": 1},
            {"word": "gone", "count": 7},
        ],
        "not_empty": WORDS,
    },
}


@pytest.fixture
def pipeline(api: Any) -> Any:
    return api.post("/pipelines", {"template": "word-count"}, 201)


@pytest.fixture
def path(pipeline: Any) -> str:
    return f"/pipelines/{pipeline['id']}/test-cases"


@pytest.fixture(scope="module")
def spark_worker(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A spark worker; answers its log."""
    from builder.local.java import java_home

    log = tmp_path_factory.mktemp("spark") / "worker.log"
    command = [sys.executable, "-m", "celery", "--app", "builder.celery", "worker"]
    with log.open("wb") as file:
        worker = subprocess.Popen(
            [*command, "--queues", "rehearsal", "--pool", "solo"],
            env={**os.environ, "JAVA_HOME": str(java_home())},
            cwd=ROOT,
            stdout=file,
            stderr=file,
        )
    yield log
    worker.terminate()
    worker.wait(timeout=30)


@pytest.fixture
def spark(spark_worker: Path, settings: Any) -> None:
    """Waits for the spark worker to say that it is there."""
    # The first rehearsal of a worker takes long on a machine that has much to do.
    patient = settings.ENVIRONMENT.model_copy(update={"rehearse_seconds": 240})
    settings.ENVIRONMENT = patient
    deadline = time.monotonic() + 90
    while not cache.get("worker:rehearsal"):
        assert time.monotonic() < deadline, spark_worker.read_text()
        time.sleep(0.1)


# --- Kept


def test_made_changed_listed_deleted(api: Any, path: str, pipeline: Any) -> None:
    made = api.post(path, GOOD, 201)
    assert made == {
        **GOOD, "id": made["id"], "created_by": "ada", "updated_at": made["updated_at"],
        "last": None,
    }  # fmt: skip
    one = f"{path}/{made['id']}"
    assert api.get(one) == made
    changed = api.put(one, {**GOOD, "name": "  two   words "})
    assert changed["name"] == "two words"
    api.post(path, {"name": "another", "rows": {}, "expected": {}}, 201)
    found = api.get(f"{path}?page_size=1&page=2")
    assert found["count"] == 2
    assert [case["name"] for case in found["items"]] == ["two words"]
    api.delete(one)
    api.get(one, 404)
    said = Activity.objects.filter(subject_id=pipeline["id"], verb="change").order_by("at")
    assert [a.message for a in said] == [
        "ada made the test case words", "ada changed the test case two words",
        "ada made the test case another", "ada deleted the test case two words",
    ]  # fmt: skip
    api.delete(f"/pipelines/{pipeline['id']}")
    assert not models.TestCase.objects.exists()


def test_names_are_unique_in_a_pipeline(api: Any, path: str) -> None:
    api.post(path, GOOD, 201)
    assert "words" in api.post(path, GOOD, 409)["detail"]
    other = api.post(path, {**GOOD, "name": "other"}, 201)
    api.put(f"{path}/{other['id']}", GOOD, 409)
    elsewhere = api.post("/pipelines", {"template": "word-count"}, 201)
    api.post(f"/pipelines/{elsewhere['id']}/test-cases", GOOD, 201)


REFUSED = {
    "no name": ({"name": " "}, "name"),
    "long name": ({"name": "x" * 201}, "200"),
    "no rows": ({"rows": None}, "lists of rows"),
    "rows that are no list": ({"rows": {"lines": {}}}, "lines has no list"),
    "a row that is no object": ({"rows": {"lines": [{}, 7]}}, "Row 2 of lines"),
    "a million rows that are none": ({"expected": {"words": [1] * 1_000_000}}, "Row 1 of words"),
    "too many rows": (
        {"rows": {"a": [{}] * 6_000, "b": [{}] * 6_000}}, "10,000 rows at most; these are 12,000",
    ),
    "too many expected": ({"expected": {"words": [{}] * 1_001}}, "1,000 rows of a step"),
    "another field": ({"row": {}}, "row"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, api: Any, path: str) -> None:
    change, says = REFUSED[name]
    begun = time.monotonic()
    assert says in api.post(path, {**GOOD, **change}, 422)["detail"]
    assert time.monotonic() - begun < 3
    made = api.post(path, GOOD, 201)
    assert says in api.put(f"{path}/{made['id']}", {**GOOD, **change}, 422)["detail"]
    assert api.get(f"{path}/{made['id']}") == made


def test_the_limits_are_those_of_a_rehearsal() -> None:
    from runner import rehearse

    assert (MOST_GIVEN, MOST_EXPECTED) == (rehearse.MOST_GIVEN, rehearse.MOST_ROWS)


def test_who_may_draw_may_write_and_who_may_see_may_read(
    api: Any, path: str, viewer: User, editor: User, as_user: Any
) -> None:
    made = as_user(editor).post(path, GOOD, 201)
    one = f"{path}/{made['id']}"
    view = as_user(viewer)
    assert view.get(one)["created_by"] == "eve"
    assert view.get(path)["count"] == 1
    view.post(path, {**GOOD, "name": "x"}, 403)
    view.put(one, GOOD, 403)
    view.delete(one, 403)
    view.post(f"{path}/run", {}, 503)  # allowed, but nobody is there to do it
    as_user(None).get(path, 401)


def test_a_test_case_belongs_to_its_pipeline(api: Any, path: str) -> None:
    made = api.post(path, GOOD, 201)
    other = api.post("/pipelines", {"template": "word-count"}, 201)
    theirs = f"/pipelines/{other['id']}/test-cases"
    api.get(f"{theirs}/{made['id']}", 404)
    api.put(f"{theirs}/{made['id']}", GOOD, 404)
    api.delete(f"{theirs}/{made['id']}", 404)
    assert made["id"] in api.post(f"{theirs}/run", {"cases": [made["id"]]}, 404)["detail"]


def test_without_spark_it_is_said(api: Any, path: str) -> None:
    api.post(path, GOOD, 201)
    assert "Spark" in api.post(f"{path}/run", {}, 503)["detail"]
    assert api.get(path)["items"][0]["last"] is None


# --- Run


def by_name(results: Any) -> Any:
    return {result["name"]: result for result in results["results"]}


@pytest.mark.usefixtures("spark")
def test_running_compares_remembers_and_tells_the_deployment(
    api: Any, path: str, pipeline: Any
) -> None:
    good, bad = api.post(path, GOOD, 201), api.post(path, BAD, 201)
    done = api.post(f"{path}/run", {})
    assert not done["passed"]
    assert [r["name"] for r in done["results"]] == ["counts", "words"]
    words, counts = by_name(done)["words"], by_name(done)["counts"]
    assert (words["passed"], words["problems"]) == (True, [])
    assert words["seconds"] > 0
    assert {row["op"] for row in words["steps"]["words"]["rows"]} == {"same"}
    assert (counts["passed"], counts["problems"]) == (False, [])
    assert counts["steps"]["not_empty"]["passed"]
    rows = counts["steps"]["counts"]["rows"]
    assert [(r["op"], r["columns"]) for r in rows] == [
        ("same", []), ("same", []), ("changed", ["count"]), ("same", []), ("missing", []),
        ("unexpected", []),
    ]  # fmt: skip
    assert (rows[2]["expected"]["count"], rows[2]["found"]["count"]) == (3, 2)
    assert (rows[5]["found"]["word"], rows[5]["found"]["_batch"]) == ("not", 1)

    last = {case["name"]: case["last"] for case in api.get(path)["items"]}
    assert (last["words"]["passed"], last["words"]["current"]) == (True, True)
    assert (last["counts"]["passed"], last["counts"]["current"]) == (False, True)

    deployed = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    tests = {"passed": 1, "failed": ["counts"], "not_run": 0}
    assert deployed["tests"] == tests
    assert Activity.objects.get(verb="deploy").message == (
        "ada deployed version 1, although the test case counts fails"
    )

    graph = pipeline["graph"]
    graph["steps"][2]["config"]["condition"] = "word <> 'be'"
    one = api.post(f"{path}/run", {"cases": [bad["id"]], "graph": graph})
    assert [r["name"] for r in one["results"]] == ["counts"]
    assert not one["results"][0]["steps"]["not_empty"]["passed"]
    assert api.get(f"{path}/{bad['id']}")["last"]["current"] is False, "the draft is another"
    api.put(f"/pipelines/{pipeline['id']}", {"revision": 1, "graph": graph})
    assert api.get(f"{path}/{bad['id']}")["last"]["current"] is True
    assert api.get(f"{path}/{good['id']}")["last"] == {**last["words"], "current": False}

    api.put(f"{path}/{good['id']}", {**GOOD, "name": "renamed"})
    assert api.get(f"{path}/{good['id']}")["last"]["passed"]
    api.put(f"{path}/{good['id']}", {**GOOD, "expected": {}})
    assert api.get(f"{path}/{good['id']}")["last"] is None, "it is another test case now"


@pytest.mark.usefixtures("spark")
def test_what_cannot_run_fails_with_its_problems(api: Any, path: str, pipeline: Any) -> None:
    api.post(path, GOOD, 201)
    graph = pipeline["graph"]
    graph["steps"][2]["config"]["condition"] = "wrod <> ''"
    (result,) = api.post(f"{path}/run", {"graph": graph})["results"]
    assert (result["passed"], result["steps"]) == (False, {})
    assert [(p["step"], p["field"]) for p in result["problems"]] == [("not_empty", "condition")]
    assert api.get(path)["items"][0]["last"]["passed"] is False

    graph["steps"][2]["config"]["condition"] = "1 / (length(word) - 2) > 0"
    (result,) = api.post(f"{path}/run", {"graph": graph})["results"]
    assert not result["passed"]
    assert "zero" in result["problems"][0]["message"]

    empty = {"version": 1, "steps": [], "edges": []}
    (result,) = api.post(f"{path}/run", {"graph": empty})["results"]
    assert "empty" in result["problems"][0]["message"]
    api.post(f"{path}/run", {"graph": {"version": 1, "steps": [{"id": "a"}]}}, 422)

    other = api.post(path, {"name": "other", "rows": {"nowhere": [{}]}, "expected": {}}, 201)
    (result,) = api.post(f"{path}/run", {"cases": [other["id"]]})["results"]
    assert "nowhere, which is no source" in result["problems"][0]["message"]


@pytest.mark.usefixtures("spark")
def test_what_cannot_be_compared_is_said(api: Any, path: str) -> None:
    many = [{"value": "a b"}] * 600
    expected = {"words": [{"value": "a b", "word": "a"}] * 600, "elsewhere": [{}]}
    api.post(path, {"name": "many", "rows": {"lines": many}, "expected": expected}, 201)
    answer = api.call("POST", f"{path}/run?format=junit", {})
    assert answer.headers["Content-Type"].startswith("application/xml")
    suite = ElementTree.fromstring(answer.content).find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "word-count",
        "1",
        "1",
    )
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert "1,200 rows came out and only the first 1,000" in failure.text
    assert "elsewhere" in failure.text


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "body",
    [
        # Deaf to every signal that can be ignored, with a child that outlives it.
        "import os, signal, time\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "    os.fork()\n    while True: time.sleep(1)",
        "import os\n    os._exit(1)",
    ],
)
def test_a_rehearsal_that_never_ends_is_ended(api: Any, settings: Any, body: str) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"rehearse_seconds": 5})
    code = f"def f(row):\n    {body}"
    columns = [{"name": "value", "type": "string"}]
    graph = {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {"connection": "local", "topics": ["lines"], "format": "text"}},
            {"id": "own", "type": "python_map", "config": {"code": code, "columns": columns}},
            {"id": "shown", "type": "console_sink", "config": {}},
        ],
        "edges": [{"from": "lines", "to": "own"}, {"from": "own", "to": "shown"}],
    }  # fmt: skip
    begin = time.monotonic()
    answer = api.post("/rehearse", {"graph": graph, "rows": LINES})
    assert time.monotonic() - begin < 30
    assert answer["problems"], answer
    # The next one is not held up.
    graph["steps"][1]["config"]["code"] = "def f(row):\n    return row"
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"rehearse_seconds": 240})
    assert api.post("/rehearse", {"graph": graph, "rows": LINES})["problems"] == []


def test_junit_of_anything() -> None:
    rows = row_diff([{"a": "<\x01&\ufffe"}], [{"b": "]]>\x07"}])
    problem = {"step": None, "field": None, "severity": "error", "message": "odd \x0b <one>"}
    outcomes = [
        Outcome("1", "fine & <good>", 1.25),
        Outcome("2", 'not "fine"', 0.5, [problem], {"words": rows}),
    ]
    suite = ElementTree.fromstring(junit("p", outcomes)).find("testsuite")
    assert suite is not None
    assert {k: suite.get(k) for k in ("tests", "failures", "time")} == {
        "tests": "2", "failures": "1", "time": "1.750",
    }  # fmt: skip
    fine, other = suite.findall("testcase")
    assert (fine.get("name"), list(fine)) == ("fine & <good>", [])
    (failure,) = other
    assert failure.get("message") == "pipeline: odd \ufffd <one>"
    assert failure.text is not None
    assert '  - {"a": "<\\u0001&\ufffd"}' in failure.text
    assert '  + {"b": "]]>\\u0007"}' in failure.text


# --- Told to deployments


def test_a_deployment_knows_what_its_test_cases_said(api: Any, path: str, pipeline: Any) -> None:
    hash_ = Pipeline.objects.get().read().hash()
    for name, passed, hash_of in (
        ("a", False, hash_), ("b", False, hash_), ("c", False, hash_), ("d", False, hash_),
        ("e", True, hash_), ("f", True, "another"), ("g", None, ""),
    ):  # fmt: skip
        made = api.post(path, {**GOOD, "name": name}, 201)
        if passed is not None:
            models.TestCase.objects.filter(pk=made["id"]).update(
                last_passed=passed, last_at=timezone.now(), last_hash=hash_of
            )
    deployed = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    tests = {"passed": 1, "failed": ["a", "b", "c", "d"], "not_run": 2}
    assert deployed["tests"] == tests
    (said,) = api.get(f"/deployments/{deployed['id']}/activity")["items"]
    assert said["message"] == (
        "ada deployed version 1, although the test cases a, b, c and 1 more fail "
        "and 2 test cases had not run on it"
    )
    deployment = Deployment.objects.get()
    deployment.runs.create(epoch=1, generation=1, started_at=timezone.now(), tests=tests)
    models.TestCase.objects.update(last_passed=True, last_hash=hash_)
    again = api.post("/deployments", {"pipeline": pipeline["id"], "state": "fresh"})
    assert again["tests"] == {"passed": 7, "failed": [], "not_run": 0}
    assert [run["tests"] for run in again["runs"]] == [tests], "what was so stays so"
    newest = api.get(f"/deployments/{deployed['id']}/activity")["items"][0]
    assert newest["message"] == "ada deployed version 1, starting fresh"


def test_a_pipeline_without_test_cases_has_nothing_against_it(api: Any, pipeline: Any) -> None:
    deployed = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    assert deployed["tests"] == {"passed": 0, "failed": [], "not_run": 0}
    assert Activity.objects.get(verb="deploy").message == "ada deployed version 1"
    assert reconcile(deployed["id"]) is None


# --- For CI


@pytest.mark.django_db(transaction=True)
def test_ci_runs_them_by_a_command(api: Any, path: str, pipeline: Any, tmp_path: Path) -> None:
    from builder.local.java import java_home

    api.post(path, GOOD, 201)
    api.post(path, BAD, 201)
    api.post(path, {**BAD, "name": "left out"}, 201)
    report = tmp_path / "report.xml"
    command = [sys.executable, "manage.py", "run_test_cases", "word-count"]
    done = subprocess.run(
        [*command, "--case", "words", "--case", "counts", "--junit", report],
        env={
            **os.environ,
            "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
            # No worker and no Redis are needed.
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "JAVA_HOME": str(java_home()),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[:2] for line in lines if line[0] != " "][:2] == [
        ["failed", "counts"], ["passed", "words"],
    ]  # fmt: skip
    assert '          - {"word": "to", "count": 3}' in lines
    assert '          + {"word": "to", "count": 2}' in lines
    assert lines[-1] == "1 passed, 1 failed"
    suite = ElementTree.parse(report).find("testsuite")
    assert suite is not None
    assert [case.get("name") for case in suite] == ["counts", "words"]
    assert {case.name: case.last_passed for case in models.TestCase.objects.all()} == {
        "counts": False, "left out": None, "words": True,
    }  # fmt: skip


def test_the_command_says_what_is_not_there(
    api: Any, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, says in (
        (["nothing"], "no pipeline nothing"),
        (["word-count", "--case", "none"], "no test case none"),
        (["word-count", "--junit", "/nowhere/at/all.xml"], "all.xml can't be written"),
    ):
        with pytest.raises(CommandError, match=says) as refused:
            call_command("run_test_cases", *arguments)
        assert refused.value.returncode == 2
    call_command("run_test_cases", "word-count")
    assert capsys.readouterr().out == "0 passed, 0 failed\n"
