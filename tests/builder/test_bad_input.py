"""What is not well-formed is refused quickly, by name, and leaves nothing behind."""

import json
import logging
import time
from typing import Any

import pytest

from builder.access.models import Activity
from builder.pipelines.models import Pipeline


def graph(steps: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"version": 1, "steps": steps or [], "edges": [], **more}


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def sample(id_: str, **config: Any) -> dict[str, Any]:
    return {"id": id_, "type": "filter", "config": config}


NAMED = b'{"name": "x", "graph": {"version": 1, "steps": [], "edges": [], "canvas": {"a": %s}}}'
DEEP = b"[" * 5000 + b"]" * 5000

REFUSED: dict[str, tuple[bytes, int, str]] = {
    "broken": (b'{"name": ', 400, "not JSON"),
    "not an object": (b"[1]", 422, ""),
    "nothing": (b"", 422, ""),
    "not UTF-8": (b'{"name": "\xff"}', 400, "UTF-8"),
    "NaN": (NAMED % b"NaN", 400, "NaN"),
    "Infinity": (NAMED % b"-Infinity", 400, "Infinity"),
    "1e400": (NAMED % b"1e400", 400, "1e400"),
    "huge integer": (NAMED % (b"9" * 5000), 400, "too large"),
    "deep": (NAMED % DEEP, 400, "nested"),
    "quite deep": (NAMED % (b"[" * 200 + b"]" * 200), 400, "nested"),
    "lone surrogate": (NAMED % b'"\\ud800"', 400, "surrogate"),
    "lone surrogate in a key": (NAMED % b'{"\\udfff": 1}', 400, "surrogate"),
    "NUL": (NAMED % b'"a\\u0000b"', 400, "NUL"),
    "NUL in the name": (b'{"name": "a\\u0000b"}', 400, "NUL"),
    "too large": (NAMED % (b'"' + b"x" * (5 * 1024 * 1024) + b'"'), 413, "4 MB"),
    "unknown field": (body({"nmae": "x"}), 422, "nmae"),
    "long name": (body({"name": "x" * 100_000}), 422, "name"),
    "empty name": (body({"name": "  "}), 422, "name"),
    "no such template": (body({"template": "none"}), 422, "none"),
    "unknown step type": (body({"graph": graph([{"id": "a", "type": "nope"}])}), 422, "problem"),
    "unknown config": (body({"graph": graph([sample("a", zzz=1)])}), 422, "problem"),
    "unknown part": (body({"graph": graph(nodes=[])}), 422, "problem"),
    "same id twice": (body({"graph": graph([sample("a"), sample("a")])}), 422, "problem"),
    "loose edge": (
        body({"graph": {**graph(), "edges": [{"from": "a", "to": "b"}]}}), 422, "problem"
    ),
    "cycle": (
        body(
            {
                "graph": {
                    **graph([sample("a"), sample("b")]),
                    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
                }
            }
        ),
        422,
        "problem",
    ),
    "newer version": (body({"graph": {**graph(), "version": 2}}), 422, "problem"),
    "10,000 steps": (
        body({"graph": graph([sample(f"s{i}") for i in range(10_000)])}), 422, "problem"
    ),
    "100,000 edges": (
        body({"graph": {**graph(), "edges": [{"from": "a", "to": "b"}] * 100_000}}), 422, "problem"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, api: Any, caplog: pytest.LogCaptureFixture) -> None:
    data, status, says = REFUSED[name]
    with caplog.at_level(logging.ERROR):
        begin = time.monotonic()
        response = api.call("POST", "/pipelines", data)
        took = time.monotonic() - begin
    answer = refusal(response, status)
    assert says in answer["detail"]
    if says == "problem":
        assert answer["problems"]
        assert all(p["message"] for p in answer["problems"])
    assert took < 1
    assert not caplog.records
    assert not Pipeline.objects.exists()
    assert not Activity.objects.filter(subject="pipeline").exists()


def refusal(response: Any, status: int) -> Any:
    assert response.status_code == status, response.content.decode()[:1000]
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.json()


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_only_json(kind: str, api: Any) -> None:
    response = api.call("POST", "/pipelines", b'{"name": "x"}', content_type=kind)
    assert "JSON" in refusal(response, 415)["detail"]
    assert not Pipeline.objects.exists()


def test_json_with_a_charset_is_json(api: Any) -> None:
    response = api.call(
        "POST", "/pipelines", b'{"name": "x"}', content_type="application/json; charset=utf-8"
    )
    assert response.status_code == 201


def test_all_problems_at_once(api: Any) -> None:
    steps = [sample("a", zzz=1), {"id": "9b", "type": "filter"}, {"id": "c", "type": "nope"}]
    answer = api.post("/pipelines", {"graph": graph(steps)}, 422)
    assert {p["step"] for p in answer["problems"]} == {"a", "9b", "c"}


def test_texts_come_back_as_they_went_in(api: Any) -> None:
    name = "<img src=x onerror=alert(1)> ‮right to left‬ 👩‍🚀 zero\u200bwidth"
    made = api.post("/pipelines", {"name": name}, 201)
    assert api.get(f"/pipelines/{made['id']}")["name"] == name


@pytest.mark.parametrize(
    "path",
    [
        "/pipelines?page=0",
        "/pipelines?page_size=1000000",
        "/pipelines?page=99999999999999999999",
        "/pipelines?search=%00",
        "/connections?search=" + "x" * 1000,
    ],
)
def test_queries_are_checked(path: str, api: Any) -> None:
    api.get(path, 422)


@pytest.mark.parametrize("path", ["/pipelines/none", "/pipelines/1", "/nothing"])
def test_what_is_not_there(path: str, api: Any) -> None:
    api.get(path, 404)


TYPED = "coalesce(upper(user), 'it''s') = `a b` AND n BETWEEN -1 AND 2 OR CASE WHEN n[0] THEN 1 END"


def checked(api: Any, condition: str) -> list[Any]:
    """What is said of a filter with this condition, below a source."""
    columns = [{"name": n, "type": "string"} for n in ("user", "a b", "n")]
    source = {"connection": "local", "topics": ["t"], "format": "json", "columns": columns}
    steps = [{"id": "rows", "type": "kafka_source", "config": source}]
    steps.append(sample("kept", condition=condition))
    drawn = graph(steps, edges=[{"from": "rows", "to": "kept"}])
    problems = api.post("/check", {"graph": drawn})["problems"]
    return [p for p in problems if p["step"] == "kept" and p["severity"] == "error"]


def test_what_is_half_typed_is_said_at_its_field(api: Any, local: Any) -> None:
    for end in range(len(TYPED)):
        for problem in checked(api, TYPED[:end]):
            assert problem["field"] == "condition", TYPED[:end]
            assert problem["message"].endswith((".", "?")), problem["message"]
    assert checked(api, "coalesce(upper(user)")
    assert not checked(api, TYPED)


@pytest.mark.parametrize(
    "condition",
    [
        "reflect('java.lang.System', 'exit', 0) = ''",
        "java_method('java.lang.Runtime', 'getRuntime') IS NULL",
        "input_file_name() = ''",
        "(SELECT count(*) FROM rows) > 1",
        "n IN (SELECT 1)",
        "user = '${env:HOME}'",
        "1 = 1; DROP TABLE rows",
        "1 = 1 -- and so on",
        "1 = 1 /*+ BROADCAST(rows) */",
        "sum(n) OVER () > 1",
        "raise_error('x')",
        "n > 1\u0000",
    ],
)
def test_what_no_expression_may_do_is_named(condition: str, api: Any, local: Any) -> None:
    if "\0" in condition:
        steps = [sample("kept", condition=condition)]
        assert "NUL" in api.post("/check", {"graph": graph(steps)}, 400)["detail"]
    else:
        (problem,) = checked(api, condition)
        assert problem["field"] == "condition"
        assert problem["message"].endswith((".", "?"))
    assert not checked(api, "n > 1")
