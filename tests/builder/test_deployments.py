"""What is wanted: deploy, stop, start, restart, and asking twice."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from builder.access.models import Activity
from builder.deployments.actions import deploy
from builder.deployments.models import Deployment, Run
from builder.pipelines.models import Pipeline, Version

pytestmark = pytest.mark.usefixtures("local")


@pytest.fixture
def pipeline(api: Any) -> Any:
    return api.post("/pipelines", {"template": "word-count"}, 201)


def test_deploying_freezes_everything(api: Any, pipeline: Any) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"], "comment": "go"}, 201)
    assert made["pipeline"] == {k: pipeline[k] for k in ("id", "name", "slug", "folder")}
    assert (made["version"], made["environment"], made["mode"]) == (1, "default", "auto")
    assert (made["desired"], made["state"]) == ("running", "pending")
    assert made["message"]
    assert made["segments"][0]["mode"] == "real_time"
    assert (made["metrics"], made["samples"], made["runs"]) == (None, {}, [])
    row = Deployment.objects.get()
    compile(row.script, "job.py", "exec")
    assert row.name == "word-count"
    assert {t["use"] for t in row.topics} == {"read", "write"}
    assert row.conf["spark.sql.variable.substitute"] == "false"

    api.put(
        f"/pipelines/{pipeline['id']}",
        {"revision": 1, "graph": {"version": 1, "steps": [], "edges": []}},
    )
    now = api.get(f"/deployments/{made['id']}")
    assert now["graph"] == pipeline["graph"], "what runs does not change with the draft"
    listed = api.get("/deployments")
    assert listed["count"] == 1
    assert not {"graph", "samples", "runs"} & set(listed["items"][0])
    assert api.get("/pipelines")["items"][0]["deployment"] == {
        "id": made["id"], "state": "pending", "message": made["message"], "rate": 0.0,
    }  # fmt: skip


def test_an_unsound_graph_is_not_deployed(api: Any, word_count: Any) -> None:
    word_count["steps"][2]["config"]["condition"] = "nothing = 1"
    made = api.post("/pipelines", {"graph": word_count}, 201)
    (problem,) = api.post("/deployments", {"pipeline": made["id"]}, 422)["problems"]
    assert (problem["step"], problem["field"]) == ("not_empty", "condition")
    assert not Deployment.objects.exists()
    assert not Version.objects.exists()


def test_a_mode_that_cannot_hold_is_refused(api: Any) -> None:
    graph = {
        "version": 1,
        "steps": [
            {"id": "ticks", "type": "kafka_source",
             "config": {"connection": "local", "topics": ["t"], "format": "text",
                        "max_rows_per_batch": 5}},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "o"}},
        ],
        "edges": [{"from": "ticks", "to": "out"}],
    }  # fmt: skip
    made = api.post("/pipelines", {"graph": graph}, 201)
    (problem,) = api.post("/deployments", {"pipeline": made["id"], "mode": "real_time"}, 422)[
        "problems"
    ]
    assert problem["step"] == "ticks"
    api.post("/deployments", {"pipeline": made["id"], "mode": "micro_batch"}, 201)


def test_deploying_again_replaces(api: Any, pipeline: Any) -> None:
    first = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    again = api.post("/deployments", {"pipeline": pipeline["id"]}, 200)
    assert again["id"] == first["id"]
    assert Deployment.objects.get().generation == 1, "it is wanted already"
    other = api.post("/deployments", {"pipeline": pipeline["id"], "mode": "micro_batch"}, 200)
    assert other["id"] == first["id"]
    assert other["segments"][0]["mode"] == "micro_batch"
    assert Deployment.objects.get().generation == 2
    api.post("/deployments", {"pipeline": pipeline["id"], "environment": "staging"}, 201)
    assert api.get(f"/deployments?pipeline={pipeline['id']}")["count"] == 2
    assert {d.name for d in Deployment.objects.all()} == {"word-count", "word-count--staging"}


def test_an_older_version_can_be_deployed(api: Any, pipeline: Any, word_count: Any) -> None:
    path = f"/pipelines/{pipeline['id']}"
    api.post(f"{path}/versions", {}, 201)
    word_count["steps"][2]["config"]["condition"] = "word <> 'a'"
    api.put(path, {"revision": 1, "graph": word_count})
    assert api.post("/deployments", {"pipeline": pipeline["id"]}, 201)["version"] == 2
    assert api.post("/deployments", {"pipeline": pipeline["id"], "version": 1})["version"] == 1
    assert Deployment.objects.get().script.count("word <> ''") == 1
    api.post("/deployments", {"pipeline": pipeline["id"], "version": 9}, 404)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("latest", '"startingOffsets", "latest"'),
        ({"timestamp": "2026-01-01T00:00:00Z"}, '"startingTimestamp", 1767225600000'),
        ({"offsets": {"lines": {"0": 3}}}, '{"lines": {"0": 3}}'),
    ],
)
def test_where_to_start(start: Any, says: str, api: Any, pipeline: Any) -> None:
    api.post("/deployments", {"pipeline": pipeline["id"], "start": start, "state": "fresh"}, 201)
    row = Deployment.objects.get()
    assert says in row.script.replace("\n", " ")
    assert row.fresh


def test_rewinding_begins_elsewhere_and_afresh(api: Any, pipeline: Any) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    api.post(f"/deployments/{made['id']}/stop")
    for start, says, told in (
        ("latest", '"startingOffsets", "latest"', "the end"),
        ({"timestamp": "2026-01-01T00:00:00Z"}, "1767225600000", "2026-01-01T00:00:00Z"),
    ):
        found = api.post(f"/deployments/{made['id']}/rewind", {"start": start})
        assert (found["desired"], found["version"]) == ("running", 1)
        row = Deployment.objects.get()
        assert row.fresh
        assert says in row.script.replace("\n", " ")
        assert told in Activity.objects.filter(verb="rewind").first().message  # type: ignore[union-attr]
    assert row.generation == 3
    api.post(f"/deployments/{made['id']}/rewind", {}, 422)
    api.post(f"/deployments/{made['id']}/rewind", {"start": "soon"}, 422)
    assert Deployment.objects.get().generation == 3


def test_rolling_back_runs_what_ran_before(api: Any, pipeline: Any, word_count: Any) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    api.post(f"/deployments/{made['id']}/roll-back", {}, 409)

    def ran() -> None:
        row = Deployment.objects.get()
        now = timezone.now()
        row.runs.create(
            epoch=row.runs.count() + 1, generation=row.generation, version=row.version,
            started_at=now, running_at=now, ended_at=now, exit={"code": 75},
        )  # fmt: skip

    ran()
    word_count["steps"][2]["config"]["condition"] = "word <> 'a'"
    api.put(f"/pipelines/{pipeline['id']}", {"revision": 1, "graph": word_count})
    assert made["version_before"] is None
    second = api.post("/deployments", {"pipeline": pipeline["id"]})
    assert (second["version"], second["version_before"]) == (2, 1)
    ran()
    back = api.post(f"/deployments/{made['id']}/roll-back")
    assert (back["version"], back["graph"], back["desired"]) == (1, pipeline["graph"], "running")
    assert back["version_before"] == 2
    assert [(run["version"], run["exit_code"]) for run in back["runs"]] == [(2, 75), (1, 75)]
    assert (back["failures"], back["retry_at"]) == (0, None)
    assert not Deployment.objects.get().fresh
    ran()
    assert api.post(f"/deployments/{made['id']}/roll-back")["version"] == 2


def test_whether_an_edit_fits_the_state_is_said_before(
    api: Any, pipeline: Any, word_count: Any
) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    path = f"/deployments/{made['id']}/fit"
    (new,) = api.get(path)["segments"]
    assert (new["goes_on"], new["message"].split(":")[0]) == (False, "It is new here")
    folder = Deployment.objects.get().folder / "checkpoints"
    (folder / new["checkpoint"]).mkdir(parents=True)
    found = api.get(path)
    assert (found["fits"], found["left"]) == (True, [])

    word_count["steps"][2]["config"]["condition"] = "word <> 'a'"
    draft = {"revision": 1, "graph": word_count}
    draft = api.put(f"/pipelines/{pipeline['id']}", draft)
    assert api.get(path)["fits"], "a filter is no state"
    counts = next(s for s in word_count["steps"] if s["type"] == "aggregate")
    counts["config"]["aggregations"].append({"name": "most", "function": "max",
                                             "expression": "word"})  # fmt: skip
    api.put(f"/pipelines/{pipeline['id']}", {"revision": draft["revision"], "graph": word_count})
    found = api.get(path)
    (changed,) = found["segments"]
    assert (found["fits"], found["left"]) == (False, [new["checkpoint"]])
    assert counts["id"] in changed["message"]
    assert api.get(f"{path}?version=1")["fits"]
    modes = {m: api.get(f"{path}?mode={m}")["segments"][0]["mode"] for m in ("real_time", "auto")}
    assert modes == {"real_time": "real_time", "auto": "real_time"}
    assert api.get(f"{path}?mode=micro_batch")["segments"][0]["mode"] == "micro_batch"
    api.get(f"{path}?version=9", 404)
    api.post("/deployments", {"pipeline": pipeline["id"]})
    assert "begins anew" in Activity.objects.filter(verb="deploy").first().message  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "start", ["newest", {"timestamp": "soon"}, {"offsets": {"t": {"x": 1}}}, 3]
)
def test_a_start_that_is_none(start: Any, api: Any, pipeline: Any) -> None:
    api.post("/deployments", {"pipeline": pipeline["id"], "start": start}, 422)
    assert not Deployment.objects.exists()


def test_the_same_key_is_the_same_request(api: Any, pipeline: Any) -> None:
    asked = {"pipeline": pipeline["id"]}
    first = api.post("/deployments", asked, 201, **{"Idempotency-Key": "k1"})
    api.post(f"/deployments/{first['id']}/stop")
    again = api.post("/deployments", asked, 200, **{"Idempotency-Key": "k1"})
    assert (again["id"], again["desired"]) == (first["id"], "stopped"), "it is not deployed again"
    api.post("/deployments", {**asked, "mode": "micro_batch"}, 422, **{"Idempotency-Key": "k1"})
    anew = api.post("/deployments", asked, 200, **{"Idempotency-Key": "k2"})
    assert anew["desired"] == "running"


def test_stop_start_and_restart(api: Any, pipeline: Any) -> None:
    path = f"/deployments/{api.post('/deployments', {'pipeline': pipeline['id']}, 201)['id']}"
    stopped = api.post(f"{path}/stop")
    assert (stopped["desired"], stopped["state"], stopped["message"]) == (
        "stopped", "stopped", "Stopped.",
    )  # fmt: skip
    api.post(f"{path}/stop")
    assert api.post(f"{path}/start")["state"] == "pending"
    generation = Deployment.objects.get().generation
    api.post(f"{path}/start")
    assert Deployment.objects.get().generation == generation, "it should run already"
    api.post(f"{path}/restart")
    assert Deployment.objects.get().generation == generation + 1
    done = [a["verb"] for a in api.get(f"{path}/activity")["items"]]
    assert done == ["restart", "start", "stop", "deploy"]
    assert {a["user"] for a in api.get(f"{path}/activity")["items"]} == {"ada"}


def test_what_is_not_there(api: Any) -> None:
    nothing = "00000000-0000-4000-8000-000000000000"
    api.post("/deployments", {"pipeline": nothing}, 404)
    for path in ("", "/metrics", "/logs", "/activity"):
        api.get(f"/deployments/{nothing}{path}", 404)
    for verb in ("stop", "start", "restart"):
        api.post(f"/deployments/{nothing}/{verb}", None, 404)


def test_logs_are_the_end_of_the_file(api: Any, pipeline: Any) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    path = f"/deployments/{made['id']}/logs"
    assert api.get(path) == {"epoch": None, "lines": [], "truncated": False}
    deployment = Deployment.objects.get()
    run = Run.objects.create(
        deployment=deployment, epoch=1, generation=1, started_at=timezone.now()
    )
    assert api.get(path) == {"epoch": 1, "lines": [], "truncated": False}
    run.folder.mkdir(parents=True)
    (run.folder / "log.txt").write_bytes(b"".join(b"line %d\n" % i for i in range(9)) + b"\xff\n")
    assert api.get(f"{path}?lines=2") == {
        "epoch": 1, "lines": ["line 8", "�"], "truncated": True,
    }  # fmt: skip
    assert len(api.get(f"{path}?epoch=1")["lines"]) == 10
    api.get(f"{path}?epoch=2", 404)


def test_a_deployment_has_one_live_run(api: Any, pipeline: Any) -> None:
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    about = {"deployment": Deployment.objects.get(), "generation": 1, "started_at": timezone.now()}
    Run.objects.create(epoch=1, **about)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(epoch=2, **about)
    Run.objects.update(ended_at=timezone.now())
    Run.objects.create(epoch=2, **about)


@pytest.mark.django_db(transaction=True)
def test_fifty_clicks_are_one_deployment(admin: User, pipeline: Any) -> None:
    at_once = threading.Barrier(50)

    def click(number: int) -> str:
        try:
            at_once.wait()
            key = "same" if number % 2 else None
            made, _ = deploy(admin, Pipeline.objects.get().pk, key=key)
            return str(made.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(50) as pool:
        ids = set(pool.map(click, range(50)))
    assert len(ids) == 1
    assert Deployment.objects.get().generation == 1
    assert Version.objects.count() == 1
    assert Activity.objects.filter(verb="deploy").count() == 1


def test_operators_work_in_the_administration(
    api: Any, admin: User, pipeline: Any, client: Any
) -> None:
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    client.force_login(admin)

    def act(action: str) -> str:
        about = {"action": action, "_selected_action": [made["id"]]}
        answer = client.post("/admin/deployments/deployment/", about, follow=True)
        assert answer.status_code == 200
        return str(answer.content.decode())

    for action, start in (("rewind", "earliest"), ("skip", "latest")):
        act(action)
        row = Deployment.objects.get()
        assert (row.start, row.fresh) == (start, True)
    assert "No other version has run here" in act("roll_back")
    act("stop")
    assert Deployment.objects.get().desired == "stopped"
    assert Activity.objects.filter(verb="rewind").count() == 2

    run = Run.objects.create(
        epoch=1, deployment=row, generation=1, started_at=timezone.now(), ended_at=timezone.now()
    )
    run.folder.mkdir(parents=True)
    (run.folder / "log.txt").write_text("<b>what it said</b>\n")
    page = client.get(f"/admin/deployments/run/{run.pk}/change/").content.decode()
    assert "&lt;b&gt;what it said&lt;/b&gt;" in page
