"""What was done, by whom and from where: never changed, and to be had as a file."""

import asyncio
import csv
import io
import json
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test import Client

from builder.access.activity import record
from builder.access.models import Activity, AppendOnly
from builder.asgi import application
from builder.pipelines.models import Pipeline
from tests.builder.conftest import Api


@pytest.fixture
def pipeline(api: Api, local: Any) -> str:
    """One that has a version, a test case, a deployment, and a grant."""
    made = api.post("/pipelines", {"template": "word-count", "name": "Words"}, 201)["id"]
    case = {"name": "first", "rows": {}, "expected": {}}
    api.post(f"/pipelines/{made}/test-cases", case, 201)
    deployment = api.post("/deployments", {"pipeline": made}, 201)["id"]
    api.post(f"/deployments/{deployment}/stop")
    api.post("/grants", {"role": "viewer", "user": "ada", "pipeline": made}, 201)
    return made


def test_one_timeline_tells_all_of_a_pipeline(api: Api, pipeline: str) -> None:
    other = api.post("/pipelines", {}, 201)["id"]
    said = api.get(f"/pipelines/{pipeline}/activity")
    messages = [item["message"] for item in said["items"]]
    assert messages == [
        "ada granted the role viewer on the pipeline Words to ada",
        "ada stopped Words in default",
        "ada deployed version 1, although 1 test case had not run on it",
        "ada made version 1",
        "ada made the test case first",
        "ada made the pipeline Words",
    ]
    assert said["count"] == 6
    assert len(api.get(f"/pipelines/{pipeline}/activity?page_size=2")["items"]) == 2
    assert api.get(f"/pipelines/{other}/activity")["count"] == 1


def test_it_says_from_where(api: Api, admin: User, pipeline: str, client: Client) -> None:
    path = f"/pipelines/{pipeline}/activity"
    newest = api.get(path)["items"][0]
    assert (newest["via"], newest["address"]) == ("token", "127.0.0.1")

    client.force_login(admin)
    client.post(
        f"/api/pipelines/{pipeline}/versions", b"{}", content_type="application/json",
        REMOTE_ADDR="2001:db8::7",
    )  # fmt: skip
    body = json.dumps({"revision": 1, "name": "Words 2"})
    client.put(
        f"/api/pipelines/{pipeline}", body, content_type="application/json",
        REMOTE_ADDR="2001:db8::7",
    )  # fmt: skip
    newest = api.get(path)["items"][0]
    assert (newest["via"], newest["address"]) == ("session", "2001:db8::7")

    (deployment,) = api.get("/deployments")["items"]
    chosen = {"action": "start", "_selected_action": deployment["id"]}
    client.post("/admin/deployments/deployment/", chosen, REMOTE_ADDR="10.0.0.9")
    newest = api.get(path)["items"][0]
    assert (newest["verb"], newest["via"], newest["address"]) == ("start", "admin", "10.0.0.9")

    record(None, "restart", Pipeline.objects.get(pk=pipeline), "Headrace restarted it")
    newest = api.get(path)["items"][0]
    assert (newest["user"], newest["via"], newest["address"]) == (None, "headrace", None)


@pytest.mark.django_db(transaction=True)
async def test_the_server_says_it_too(api: Api) -> None:
    """Between the server's loop and the threads that write, nothing is lost or mixed up."""

    async def make(number: int) -> None:
        bearer = (b"authorization", api.headers["Authorization"].encode())
        scope = {
            "type": "http", "method": "POST", "path": "/api/pipelines", "query_string": b"",
            "headers": [bearer, (b"content-type", b"application/json"), (b"host", b"testserver")],
            "client": (f"10.0.0.{number}", 4000),
        }  # fmt: skip
        request = ApplicationCommunicator(application, scope)
        body = json.dumps({"name": f"p{number}"}).encode()
        await request.send_input({"type": "http.request", "body": body})
        assert (await request.receive_output(10))["status"] == 201

    await asyncio.gather(*(make(number) for number in range(1, 6)))
    made = Activity.objects.filter(subject="pipeline")
    found = {a.message: (a.via, a.address) async for a in made}
    assert found == {
        f"ada made the pipeline p{n}": ("token", f"10.0.0.{n}") for n in range(1, 6)
    }  # fmt: skip


def test_a_socket_file_has_no_address(api: Api, admin: User, client: Client) -> None:
    client.force_login(admin)
    client.post("/api/pipelines", b"{}", content_type="application/json", REMOTE_ADDR="")
    assert Activity.objects.get(verb="add", subject="pipeline").address is None


def test_what_a_deleted_user_did_stays(api: Api, editor: User, as_user: Any) -> None:
    made = as_user(editor).post("/pipelines", {}, 201)["id"]
    editor.delete()
    assert api.get(f"/pipelines/{made}/activity")["items"][0]["user"] == "eve"


def test_the_model_refuses_to_change_or_delete_it(api: Api, pipeline: str) -> None:
    line = Activity.objects.latest("at")
    line.message = "nothing happened"
    for wrong in (
        line.save,
        line.delete,
        Activity.objects.all().delete,
        lambda: Activity.objects.update(message=""),
        lambda: Activity.objects.bulk_update([line], ["message"]),
    ):
        with pytest.raises(AppendOnly):
            wrong()


@pytest.mark.parametrize(
    "statement", ["UPDATE access_activity SET message = ''", "DELETE FROM access_activity"]
)
def test_the_database_refuses_it_too(statement: str, api: Api, pipeline: str) -> None:
    before = Activity.objects.count()
    with (
        pytest.raises(DatabaseError, match="never changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert Activity.objects.exclude(message="").count() == before > 0


def test_as_json_lines(api: Api, pipeline: str) -> None:
    answer = api.call("GET", f"/pipelines/{pipeline}/activity?format=jsonl")
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="words-activity.jsonl"'
    lines = [json.loads(line) for line in answer.content.decode().splitlines()]
    assert [line["verb"] for line in lines] == ["add", "change", "add", "deploy", "stop", "grant"]
    assert lines[0]["user"] == "ada"
    assert lines[3]["subject"] == "deployment"


def test_a_cell_of_the_csv_is_never_a_formula(api: Api) -> None:
    """What begins as a formula is quoted, so that no spreadsheet runs it."""
    User.objects.create_superuser("=HYPERLINK", password="x")
    formulas = Api(User.objects.get(username="=HYPERLINK"))
    made = formulas.post("/pipelines", {"name": "=HYPERLINK(0)"}, 201)
    row = Pipeline.objects.get(pk=made["id"])
    for begin in ("=", "+", "-", "@", "\t", "\r"):
        record(None, "change", row, f'{begin}1+1, "quoted"\nand on')
    answer = api.call("GET", f"/pipelines/{made['id']}/activity?format=csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    header, *rows = csv.reader(io.StringIO(answer.content.decode(), newline=""))
    assert header == ["at", "user", "via", "address", "verb", "subject", "message"]
    assert len(rows) == 7
    assert rows[0][1] == "'=HYPERLINK"
    assert [row[6][:2] for row in rows[1:]] == ["'=", "'+", "'-", "'@", "'\t", "'\r"]
    assert all('"quoted"\nand on' in row[6] for row in rows[1:])


def test_an_export_is_not_for_those_who_do_not_see_it(pipeline: str, as_user: Any) -> None:
    stranger = as_user(User.objects.create_user("una"))
    for format in ("json", "csv", "jsonl"):
        stranger.get(f"/pipelines/{pipeline}/activity?format={format}", 404)
