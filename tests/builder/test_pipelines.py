"""Drafts, versions, templates, and what a graph is as a program."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from builder.access.models import Activity
from builder.pipelines.layout import layout
from builder.pipelines.models import Pipeline
from runner.graph import read_graph

EMPTY: dict[str, Any] = {"version": 1, "steps": [], "edges": []}


def test_the_catalogue_is_what_the_runner_says(api: Any) -> None:
    from runner.steps import catalogue

    assert api.get("/step-types") == catalogue()


def test_a_template_becomes_a_pipeline_that_is_laid_out(api: Any, admin: User) -> None:
    assert [t["name"] for t in api.get("/templates")] == [
        "word-count", "product-views", "not-viewing", "inventory", "captcha",
    ]  # fmt: skip
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    assert (made["name"], made["slug"], made["owner"], made["revision"]) == (
        "Word count", "word-count", "ada", 1,
    )  # fmt: skip
    places = made["graph"]["canvas"]["layout"]
    assert [places[s]["x"] for s in ("lines", "words", "not_empty", "counts", "out")] == sorted(
        {place["x"] for place in places.values()}
    )
    again = api.post("/pipelines", {"template": "word-count", "name": "Mine"}, 201)
    assert (again["name"], again["slug"]) == ("Mine", "mine")
    third = api.post("/pipelines", {"template": "word-count"}, 201)
    assert third["slug"] == "word-count-2"


def test_layout_puts_no_step_on_another() -> None:
    steps = [{"id": i, "type": "sample_source"} for i in ("a", "b")]
    steps += [{"id": i, "type": "merge"} for i in ("m", "n")]
    edges = [{"from": f, "to": t} for f, t in (("a", "m"), ("b", "m"), ("m", "n"), ("a", "n"))]
    places = layout(read_graph({"version": 1, "steps": steps, "edges": edges}))
    assert len({(p["x"], p["y"]) for p in places.values()}) == 4
    assert places["a"]["x"] == places["b"]["x"] < places["m"]["x"] < places["n"]["x"]


def test_placed_steps_stay_where_they_are(api: Any, word_count: Any) -> None:
    word_count["canvas"] = {"layout": {"lines": {"x": 7, "y": 8}}}
    made = api.post("/pipelines", {"graph": word_count}, 201)
    assert made["graph"] == word_count


def test_the_list_is_searched_paged_and_without_graphs(api: Any) -> None:
    for name in ("Alpha", "Beta", "Alphabet"):
        api.post("/pipelines", {"name": name}, 201)
    found = api.get("/pipelines?search=alpha&page_size=1")
    assert found["count"] == 2
    assert [p["name"] for p in found["items"]] == ["Alphabet"]
    assert found["items"][0] == {
        **found["items"][0], "steps": 0, "latest_version": None, "deployment": None,
    }  # fmt: skip
    assert "graph" not in found["items"][0]
    assert [p["name"] for p in api.get("/pipelines?search=alpha&page_size=1&page=2")["items"]] == [
        "Alpha"
    ]


def test_saving_needs_the_newest_revision(api: Any, word_count: Any) -> None:
    made = api.post("/pipelines", {"name": "x"}, 201)
    path = f"/pipelines/{made['id']}"
    saved = api.put(path, {"revision": 1, "graph": word_count})
    assert saved["revision"] == 2
    late = api.put(path, {"revision": 1, "graph": EMPTY, "name": "late"}, 409)
    assert late["revision"] == 2
    assert late["graph"] == word_count
    now = api.get(path)
    assert (now["name"], now["revision"], now["graph"]) == ("x", 2, word_count)


def test_an_unsound_graph_is_kept_as_a_draft(api: Any, word_count: Any) -> None:
    word_count["steps"][2]["config"]["condition"] = "no_such_column >"
    word_count["edges"] = word_count["edges"][1:]
    made = api.post("/pipelines", {"graph": word_count}, 201)
    path = f"/pipelines/{made['id']}"
    for refused in (f"{path}/plan", f"{path}/export?format=pyspark"):
        problems = api.get(refused, 422)["problems"]
        assert {p["step"] for p in problems} >= {"not_empty", "words"}


def test_a_wrong_shape_is_not_saved(api: Any, word_count: Any) -> None:
    made = api.post("/pipelines", {"graph": word_count}, 201)
    path = f"/pipelines/{made['id']}"
    wrong = {**word_count, "edges": [{"from": "lines", "to": "nowhere"}]}
    assert api.put(path, {"revision": 1, "graph": wrong}, 422)["problems"]
    assert api.get(path)["graph"] == made["graph"]


def test_every_write_is_recorded(api: Any, admin: User, word_count: Any) -> None:
    made = api.post("/pipelines", {"name": "x"}, 201)
    path = f"/pipelines/{made['id']}"
    api.put(path, {"revision": 1, "graph": word_count})
    api.post(f"{path}/versions", {"comment": "first"}, 201)
    api.delete(path)
    done = Activity.objects.filter(subject_id=made["id"]).order_by("at")
    assert [(a.verb, a.user) for a in done] == [
        ("add", admin), ("change", admin), ("add", admin), ("delete", admin),
    ]  # fmt: skip
    api.get(path, 404)


def test_versions_are_frozen_and_compared(api: Any, word_count: Any) -> None:
    made = api.post("/pipelines", {"graph": word_count}, 201)
    path = f"/pipelines/{made['id']}"
    first = api.post(f"{path}/versions", {"comment": "first"}, 201)
    assert (first["number"], first["comment"], first["created_by"]) == (1, "first", "ada")
    moved = {**made["graph"], "canvas": {"layout": {"lines": {"x": 9, "y": 9}}}}
    api.put(path, {"revision": 1, "graph": moved})
    assert api.post(f"{path}/versions", {}, 201)["number"] == 1, "moving a step is no new version"

    moved["steps"][2]["config"]["condition"] = "length(word) > 3"
    moved["steps"].append({"id": "shown", "type": "console_sink"})
    moved["edges"].append({"from": "counts", "to": "shown"})
    api.put(path, {"revision": 2, "graph": moved})
    assert api.post(f"{path}/versions", {"comment": "longer"}, 201)["number"] == 2
    assert [v["number"] for v in api.get(f"{path}/versions")["items"]] == [2, 1]
    assert api.get(f"{path}/versions/1")["graph"]["steps"][2]["config"]["condition"] == "word <> ''"
    assert api.get(f"{path}/versions/1/diff/2") == {
        "steps": {
            "added": ["shown"],
            "removed": [],
            "changed": [
                {
                    "step": "not_empty",
                    "field": "condition",
                    "from": "word <> ''",
                    "to": "length(word) > 3",
                }
            ],
        },
        "edges": {"added": [{"from": "counts", "to": "shown"}], "removed": []},
    }
    assert api.get(path)["latest_version"] == 2
    api.get(f"{path}/versions/3", 404)
    api.get(f"{path}/versions/1/diff/3", 404)


def test_plan(api: Any, local: Any) -> None:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    path = f"/pipelines/{made['id']}/plan"
    planned = api.get(path)
    (segment,) = planned["segments"]
    assert segment["mode"] == "real_time"
    assert segment["steps"] == ["lines", "words", "not_empty", "counts", "out"]
    assert {(t["use"], t["topic"]) for t in planned["topics"]} == {
        ("read", "lines"), ("write", "word-counts"),
    }  # fmt: skip
    assert api.get(f"{path}?mode=micro_batch")["segments"][0]["mode"] == "micro_batch"
    text = api.call("GET", f"{path}?format=text")
    assert text.headers["Content-Type"].startswith("text/plain")
    assert b"lines \xe2\x86\x92 words" in text.content


def test_plan_of_several_segments(api: Any, local: Any) -> None:
    made = api.post("/pipelines", {"template": "captcha"}, 201)
    path = f"/pipelines/{made['id']}/plan"
    planned = api.get(path)
    first, second = planned["segments"][:2]
    between = "headrace.captcha.action_counts.rows"
    assert (first["id"], first["writes"], first["reads"]) == ("action_counts", [between], [])
    assert (second["id"], second["writes"], second["reads"]) == ("ask", [], [between])
    # No broker answers here, so nobody knows how many partitions are read.
    assert "slots" not in first
    assert first["checkpoint"] != second["checkpoint"]
    internal = [t for t in planned["topics"] if t["use"] == "internal"]
    assert [(t["topic"], t["kind"]) for t in internal] == [(between, "table")]
    text = api.call("GET", f"{path}?format=text").content.decode()
    assert f"  writes: {between} (the table action_counts)" in text
    assert f"  reads: {between}" in text


def test_compile(api: Any, local: Any, word_count: Any) -> None:
    answer = api.post("/compile", {"graph": word_count})
    compile(answer["script"], "job.py", "exec")
    assert answer["segments"][0]["mode"] == "real_time"
    asked = api.post("/compile", {"graph": word_count, "mode": "micro_batch"})
    assert asked["segments"][0]["mode"] == "micro_batch"
    word_count["steps"][0]["config"]["connection"] = "nowhere"
    (problem,) = api.post("/compile", {"graph": word_count}, 422)["problems"]
    assert (problem["step"], problem["field"], problem["severity"]) == (
        "lines", "connection", "error",
    )  # fmt: skip


def test_export_and_import(api: Any, local: Any) -> None:
    made = api.post("/pipelines", {"template": "product-views"}, 201)
    path = f"/pipelines/{made['id']}/export"
    exported = api.call("GET", f"{path}?format=json")
    assert exported.headers["Content-Disposition"] == 'attachment; filename="product-views.json"'
    back = api.post("/pipelines/import", exported.json(), 201)
    assert back["id"] != made["id"]
    assert (back["name"], back["graph"]) == (made["name"], made["graph"])
    program = api.call("GET", f"{path}?format=pyspark")
    assert program.headers["Content-Disposition"] == 'attachment; filename="product-views.py"'
    compile(program.content, "job.py", "exec")


def test_check_without_spark_says_so(api: Any, local: Any, word_count: Any) -> None:
    answer = api.post("/check", {"graph": word_count})
    assert answer["problems"] == []
    assert answer["analyzed"] is False
    assert answer["steps"]["counts"]["kind"] == "table"
    assert answer["steps"]["counts"]["key"] == ["word"]
    assert answer["steps"]["counts"]["mode"] == "real_time"
    assert [c["name"] for c in answer["steps"]["counts"]["columns"]] == ["word", "count"]

    word_count["steps"][2]["config"]["condition"] = "wrod <> ''"
    answer = api.post("/check", {"graph": word_count})
    (problem,) = answer["problems"]
    assert (problem["step"], problem["field"]) == ("not_empty", "condition")
    assert "word" in problem["message"]
    assert set(answer["steps"]) == {"lines", "words"}


def test_check_does_not_wait_for_a_worker_that_is_gone(
    api: Any, local: Any, word_count: Any, settings: Any
) -> None:
    from django.core.cache import cache

    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"analyze_seconds": 0.3})
    cache.set("worker:spark", True, 60)
    answer = api.post("/check", {"graph": word_count})
    assert (answer["analyzed"], answer["problems"]) == (False, [])


@pytest.mark.parametrize("state", ["running", "stopped"])
def test_deleting_waits_for_the_deployment(state: str, api: Any, local: Any) -> None:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment = api.post("/deployments", {"pipeline": made["id"]}, 201)
    path = f"/pipelines/{made['id']}"
    if state == "running":
        assert "stop it first" in api.delete(path, 409)["detail"]
        assert Pipeline.objects.exists()
    else:
        api.post(f"/deployments/{deployment['id']}/stop")
        api.delete(path)
        api.get(f"/deployments/{deployment['id']}", 404)
