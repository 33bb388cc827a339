"""Connections that need secrets: where these go, and where they never come out."""

import base64
import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from builder.connections.kafka import Unreachable, topic_partitions
from builder.connections.models import Connection
from builder.connections.sealed import NotReadable
from builder.deployments import actions, process
from builder.deployments.models import Deployment, Run
from builder.deployments.reconcile import reconcile
from builder.local.kafka import free_port
from runner.launch import SECRETS
from tests.secured_kafka import (
    PASSWORD,
    PLAIN_PASSWORD,
    PLAIN_USER,
    Authority,
    SecuredKafka,
    secured_kafka,
)

OTHERS = Authority("Others")
OURS = OTHERS.identity("ours")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with secured_kafka(tmp_path_factory.mktemp("secured")) as running:
        yield running


def body(name: str = "prod", **changed: Any) -> dict[str, Any]:
    """A connection with name and password."""
    settings = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": "grace",
    }
    return {
        "name": name,
        "type": "kafka",
        "bootstrap_servers": "127.0.0.1:1",
        "settings": settings,
        "secrets": {"password": PASSWORD},
        **changed,
    }


def body_of(kafka: SecuredKafka, name: str = "prod", **changed: Any) -> dict[str, Any]:
    cluster = kafka.cluster(**changed)
    settings = {
        n: cluster[n]
        for n in ("security_protocol", "sasl_mechanism", "username", "ca_certificate")
        if cluster.get(n) is not None
    }
    secrets = {"password": cluster["password"]}
    servers = cluster["bootstrap_servers"]
    return body(name, bootstrap_servers=servers, settings=settings, secrets=secrets)


def database(**settings: Any) -> dict[str, Any]:
    given = {"host": "db.example", "database": "shop", "user": "ada", **settings}
    return {"name": "shop", "type": "postgresql", "settings": given}


def fields(answer: dict[str, Any]) -> list[str]:
    return [problem["field"] for problem in answer["problems"]]


# --- Secrets


def test_secrets_go_in_and_never_come_out(api: Any) -> None:
    made = api.post("/connections", body(), 201)
    assert made["secrets"] == ["password"]
    path = f"/connections/{made['id']}"
    told = [
        made, api.get(path), api.get("/connections"), api.put(path, body()),
        api.get("/openapi.json"), api.post(f"{path}/test"),
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(told)
    row = Connection.objects.get()
    assert row.opened_secrets() == {"password": PASSWORD}
    stored = json.dumps(list(Connection.objects.values("settings", "secrets")))
    assert json.dumps(PASSWORD)[1:-1] not in stored
    assert row.for_runner()["username"] == "grace"
    assert "password" not in row.for_runner()


def test_a_secret_stays_until_another_is_given(api: Any) -> None:
    path = f"/connections/{api.post('/connections', body(), 201)['id']}"
    for kept in ({}, {"password": ""}):
        assert api.put(path, body(secrets=kept))["secrets"] == ["password"]
    assert Connection.objects.get().opened_secrets() == {"password": PASSWORD}
    api.put(path, body(secrets={"password": "another"}))
    assert Connection.objects.get().opened_secrets() == {"password": "another"}
    refused = api.put(path, body(secrets={"password": None}), 422)
    assert fields(refused) == ["secrets.password"]
    # Else whoever may change addresses could have the password sent to one of their own.
    only_addresses = {"name": "prod", "bootstrap_servers": "b:1"}
    refused = api.put(path, only_addresses, 422)
    assert fields(refused) == ["secrets.password"]
    weaker = {**body()["settings"], "security_protocol": "SASL_PLAINTEXT"}
    assert fields(api.put(path, body(settings=weaker, secrets={}), 422)) == ["secrets.password"]
    assert Connection.objects.get().bootstrap_servers == "127.0.0.1:1"
    changed = api.put(path, {**only_addresses, "secrets": {"password": "another"}})
    assert (changed["bootstrap_servers"], changed["secrets"]) == ("b:1", ["password"])
    assert changed["settings"]["security_protocol"] == "SASL_SSL"
    plain = api.put(path, body(settings={}, secrets={}))
    assert (plain["settings"], plain["secrets"]) == ({}, [])


def test_the_key_that_encrypts_can_be_changed(api: Any, data_folder: Path, settings: Any) -> None:
    api.post("/connections", body(), 201)
    path = data_folder / "secrets_key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before, token = path.read_text(), Connection.objects.get().secrets["password"]
    call_command("rotate_secrets")
    assert path.read_text().endswith(f",{before.split(',')[0]}")
    assert Connection.objects.get().secrets["password"] != token
    call_command("rotate_secrets")
    assert before not in path.read_text()
    assert Connection.objects.get().opened_secrets() == {"password": PASSWORD}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    # In the environment keys are the administrator's to change.
    first, second = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENVIRONMENT.secrets_key = f"{first},{path.read_text()}"
    try:
        call_command("rotate_secrets")
        settings.ENVIRONMENT.secrets_key = first
        assert Connection.objects.get().opened_secrets() == {"password": PASSWORD}
        settings.ENVIRONMENT.secrets_key = second
        with pytest.raises(NotReadable):
            Connection.objects.get().opened_secrets()
        with pytest.raises(CommandError):
            call_command("rotate_secrets")
        lost = Connection.objects.get()
        assert "Enter them again" in api.post(f"/connections/{lost.pk}/test", None, 409)["detail"]
        assert fields(api.put(f"/connections/{lost.pk}", body(secrets={}), 422))
        assert api.put(f"/connections/{lost.pk}", body())["secrets"] == ["password"]
        assert Connection.objects.get().opened_secrets() == {"password": PASSWORD}
    finally:
        settings.ENVIRONMENT.secrets_key = None


def test_the_admin_shows_no_secret_and_goes_through_actions(
    admin: User, client: Client, api: Any
) -> None:
    client.force_login(admin)
    add = "/admin/connections/connection/add/"
    form = {
        "name": "prod", "type": "kafka", "bootstrap_servers": "127.0.0.1:1",
        "settings": json.dumps(body()["settings"]), "password": PASSWORD,
    }  # fmt: skip
    assert client.post(add, {**form, "settings": "[1]"}).status_code == 200
    assert client.post(add, {**form, "password": ""}).status_code == 200
    assert not Connection.objects.exists()
    assert client.post(add, form).status_code == 302
    row = Connection.objects.get()
    assert row.opened_secrets() == {"password": PASSWORD}
    change = f"/admin/connections/connection/{row.pk}/change/"
    page = client.get(change).content.decode()
    assert "s3cr3t" not in page
    assert row.secrets["password"] not in page
    assert client.post(change, {**form, "name": "other", "password": ""}).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.opened_secrets()) == ("other", {"password": PASSWORD})
    said = client.get(f"/admin/connections/connection/{row.pk}/test", follow=True)
    assert "does not accept connections" in said.content.decode()


# --- What is refused


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        # Classes that a driver would load, statements it would run, options of its own.
        (database(socketFactory="org.Evil"), "settings.socketFactory"),
        (database(sessionInitStatement="DROP TABLE x"), "settings.sessionInitStatement"),
        (database(driver="org.h2.Driver"), "settings.driver"),
        (database(url="jdbc:h2:mem:;INIT=RUNSCRIPT"), "settings.url"),
        (database(database="shop?socketFactory=org.Evil"), "settings.database"),
        (database(database="shop;INIT=x"), "settings.database"),
        (database(host="db.example:1/shop?x=y#"), "settings.host"),
        (database(host="/var/run/postgresql"), "settings.host"),
        (database(host="a,b"), "settings.host"),
        (database(port=0), "settings.port"),
        (database(sslmode="allow"), "settings.sslmode"),
        (database(user="a\nb"), "settings.user"),
        (database(password="x"), "settings.password"),
        # Logins by JNDI or OAuth, and whatever else a client of Kafka would take.
        (body(settings={"sasl.jaas.config": "com.sun.security.auth.module.JndiLoginModule"}),
         "settings.sasl.jaas.config"),
        (body(settings={"kafka.sasl.jaas.config": "x"}), "settings.kafka.sasl.jaas.config"),
        (body(settings={**body()["settings"], "sasl_mechanism": "OAUTHBEARER"}),
         "settings.sasl_mechanism"),
        (body(settings={**body()["settings"], "sasl_mechanism": "GSSAPI"}),
         "settings.sasl_mechanism"),
        (body(settings={"interceptor.classes": "org.Evil"}), "settings.interceptor.classes"),
        (body(settings={"security_protocol": "HTTP"}), "settings.security_protocol"),
        (body(settings={"bootstrap_servers": "a:1"}), "settings.bootstrap_servers"),
        (body(secrets={"password": "x\ny"}), "secrets.password"),
        (body(secrets={"password": "x", "token": "y"}), "secrets.token"),
        (body(secrets={}), "secrets.password"),
        (body(settings={"security_protocol": "SSL"}), "secrets.password"),
        (body(settings={"security_protocol": "PLAINTEXT", "username": "x"}, secrets={}),
         "settings.username"),
        (body(settings={"security_protocol": "SSL", "ca_certificate": "no"}, secrets={}),
         "settings.ca_certificate"),
        (body(settings={"security_protocol": "SSL", "client_certificate": OURS.certificate},
              secrets={}), "secrets.client_key"),
        (body(settings={"security_protocol": "SSL", "client_certificate": OURS.certificate},
              secrets={"client_key": OTHERS.identity("x").key}), "secrets.client_key"),
        # Addresses within an address.
        ({"name": "r", "type": "schema_registry", "settings": {"url": "file:///etc/passwd"}},
         "settings.url"),
        ({"name": "r", "type": "schema_registry", "settings": {"url": "http://u:p@a/"}},
         "settings.url"),
        ({"name": "r", "type": "schema_registry", "settings": {"url": "http://a:99999/"}},
         "settings.url"),
        ({**database(), "bootstrap_servers": "a:1"}, "bootstrap_servers"),
    ],
)  # fmt: skip
def test_what_is_on_no_list_is_refused(wrong: dict[str, Any], field: str, api: Any) -> None:
    """A driver's and a client's free options are refused, each on its field; nothing is kept."""
    answer = api.post("/connections", wrong, 422)
    assert field in fields(answer)
    assert not Connection.objects.exists()
    assert PASSWORD not in json.dumps(answer)


def test_a_type_has_its_own_fields_and_stays(api: Any) -> None:
    api.post("/connections", {**body(), "type": "jdbc"}, 422)
    made = api.post("/connections", {**database(), "secrets": {"password": "x"}}, 201)
    assert (made["secrets"], made["bootstrap_servers"]) == (["password"], "")
    assert fields(api.put(f"/connections/{made['id']}", body("shop"), 422)) == ["type"]
    assert "no topics" in api.get(f"/connections/{made['id']}/topics", 409)["detail"]
    # As where an environment means it by the name of a cluster.
    with pytest.raises(Unreachable, match="no Kafka"):
        topic_partitions(Connection.objects.get())


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
        "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "224.0.0.1", "0.0.0.0", "0", "::",
    ],
)  # fmt: skip
def test_no_connection_leads_to_what_a_cloud_tells_its_machines(host: str, api: Any) -> None:
    """Addresses of a link, a cloud's metadata in all their spellings, many machines, none."""
    assert fields(api.post("/connections", database(host=host), 422)) == ["settings.host"]
    written = f"[{host}]" if ":" in host else host
    api.post("/connections", {"name": "x", "bootstrap_servers": f"{written}:80"}, 422)
    url = {"name": "x", "type": "schema_registry", "settings": {"url": f"http://{written}/latest"}}
    api.post("/connections", url, 422)
    assert not Connection.objects.exists()


def test_a_name_may_not_lead_there_either(api: Any, monkeypatch: Any) -> None:
    """What a name stands for is looked at when it is used, for it may have changed."""
    made = api.post("/connections", {"name": "x", "bootstrap_servers": "sly.example:80"}, 201)

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    last = api.post(f"/connections/{made['id']}/test")["steps"][-1]
    assert (last["name"], last["ok"]) == ("Name", False)
    assert "169.254.169.254" in last["message"]
    assert "169.254.169.254" in api.get(f"/connections/{made['id']}/topics", 502)["detail"]


def test_only_approved_hosts(api: Any, settings: Any) -> None:
    """Where the administrator has approved hosts, connections lead to no others."""
    settings.ENVIRONMENT.approved_hosts = "*.example, 10.0.0.*"
    settings.ENVIRONMENT.kafka = "127.0.0.1:9092"
    try:
        for servers in ("a.example:1", "A.EXAMPLE:1", "10.0.0.7:1", "127.0.0.1:1"):
            made = api.post("/connections", body("x", bootstrap_servers=servers), 201)
            api.delete(f"/connections/{made['id']}")
        for servers in ("a.example.org:1", "10.0.1.7:1", "localhost:1", "a.example:1,b:1"):
            answer = api.post("/connections", body("x", bootstrap_servers=servers), 422)
            assert "approved" in answer["problems"][0]["message"]
        api.post("/connections", database(host="b"), 422)
        api.post("/connections", database(host="db.example"), 201)
    finally:
        settings.ENVIRONMENT.approved_hosts = ""
        settings.ENVIRONMENT.kafka = None


def test_headraces_own_data_is_no_place_to_write_to(api: Any, settings: Any) -> None:
    """Its Redis and its own database are refused, by whatever name."""
    was = settings.ENVIRONMENT.database_url
    settings.REDIS_URL = "redis://:x@localhost/0"
    settings.ENVIRONMENT.database_url = "postgres://u:p@127.0.0.1:5433/headrace"
    try:
        for host, port in (("127.0.0.1", 5433), ("localhost", 5433), ("127.0.0.2", 6379)):
            answer = api.post("/connections", database(host=host, port=port), 422)
            assert fields(answer) == ["settings.host"]
        api.post("/connections", database(host="127.0.0.1", port=5432), 201)
    finally:
        settings.ENVIRONMENT.database_url = was


def test_folders_lie_below_the_one_set_apart(api: Any, settings: Any, tmp_path: Path) -> None:
    """Neither `..` nor a link leads out of it, not even one that was made later."""
    root, outside = tmp_path / "files", tmp_path / "outside"
    (root / "in").mkdir(parents=True)
    outside.mkdir()
    (root / "out").symlink_to(outside)
    settings.HEADRACE_FILES = root

    def wanted(folder: str) -> dict[str, Any]:
        return {"name": "f", "type": "files", "settings": {"folder": folder}}

    for folder in ("..", "in/../../outside", str(outside), "/etc", "out", "none"):
        assert fields(api.post("/connections", wanted(folder), 422)) == ["settings.folder"]
    made = api.post("/connections", wanted("in/../in"), 201)
    assert made["settings"] == {"folder": str(root / "in")}
    (root / "in" / "a.csv").write_text("a")
    answer = api.post(f"/connections/{made['id']}/test")
    assert answer["ok"]
    assert [s["name"] for s in answer["steps"]] == ["Folder", "Readable"]
    assert "1 entry" in answer["steps"][-1]["message"]
    shutil.rmtree(root / "in")
    (root / "in").symlink_to(outside)
    answer = api.post(f"/connections/{made['id']}/test")
    assert (answer["ok"], [s["name"] for s in answer["steps"]]) == (False, ["Folder"])


# --- Trials


def test_each_step_of_a_secured_cluster_is_told(api: Any, kafka: SecuredKafka) -> None:
    made = api.post("/connections", body_of(kafka), 201)
    answer = api.post(f"/connections/{made['id']}/test")
    assert answer["ok"], answer
    assert [s["name"] for s in answer["steps"]] == [
        "Address", "Name", "Connection", "TLS", "Credentials", "Kafka", "Topics",
    ]  # fmt: skip
    path = f"/connections/{made['id']}/topics"
    api.post(path, {"topic": "secured", "partitions": 3}, 201)
    assert {"topic": "secured", "partitions": 3} in api.get(path)["items"]
    assert api.get(f"{path}/secured/sample")["rows"] == []


def test_other_ways_to_log_in(api: Any, kafka: SecuredKafka) -> None:
    plain = body_of(kafka, sasl_mechanism="PLAIN", username=PLAIN_USER, password=PLAIN_PASSWORD)
    made = api.post("/connections", plain, 201)
    assert api.post(f"/connections/{made['id']}/test")["ok"]
    cluster = kafka.mutual_cluster()
    settings = {
        n: cluster[n] for n in ("security_protocol", "ca_certificate", "client_certificate")
    }
    by_certificate = body(
        "mutual", bootstrap_servers=kafka.mutual, settings=settings,
        secrets={"client_key": cluster["client_key"]},
    )  # fmt: skip
    made = api.post("/connections", by_certificate, 201)
    assert made["secrets"] == ["client_key"]
    answer = api.post(f"/connections/{made['id']}/test")
    assert answer["ok"], answer
    unsigned = {**by_certificate, "name": "unsigned", "secrets": {}}
    unsigned["settings"] = {n: v for n, v in settings.items() if n != "client_certificate"}
    made = api.post("/connections", unsigned, 201)
    step = api.post(f"/connections/{made['id']}/test")["steps"][-1]
    assert (step["name"], step["ok"]) == ("Credentials", False)
    assert "certificate" in step["message"]


@pytest.mark.parametrize(
    ("changed", "last", "says"),
    [
        ({"password": "wrong"}, "Credentials", "refuses"),
        ({"username": "nobody"}, "Credentials", "refuses"),
        ({"ca_certificate": OTHERS.certificate}, "TLS", "not trusted"),
        ({"ca_certificate": None}, "TLS", "not trusted"),
    ],
)
def test_a_trial_says_what_is_wrong(
    changed: dict[str, Any], last: str, says: str, api: Any, kafka: SecuredKafka
) -> None:
    made = api.post("/connections", body_of(kafka, **changed), 201)
    answer = api.post(f"/connections/{made['id']}/test")
    step = answer["steps"][-1]
    assert (answer["ok"], step["name"], step["ok"]) == (False, last, False), answer
    assert says in step["message"]
    assert all(s["ok"] for s in answer["steps"][:-1])


def test_a_plain_port_speaks_no_tls(api: Any, kafka: SecuredKafka) -> None:
    made = api.post("/connections", {**body_of(kafka), "bootstrap_servers": kafka.open}, 201)
    step = api.post(f"/connections/{made['id']}/test")["steps"][-1]
    assert (step["name"], step["ok"]) == ("TLS", False)


@pytest.fixture(scope="module")
def postgres() -> Iterator[int]:
    """A real PostgreSQL that asks for passwords; answers its port."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin"), Path(shutil.which("postgres") or "/")]
    if not (found[0] / "initdb").exists():
        pytest.skip("PostgreSQL is not installed here")
    # It refuses to run as root.
    owner: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="headrace-pg-"))
    if owner:
        shutil.chown(folder, "postgres")
    secret = folder / "password"
    secret.write_text("p g'1")
    secret.chmod(0o644)
    data = folder / "data"
    command = [found[0] / "initdb", "-D", data, "-U", "ada", "-A", "scram-sha-256"]
    subprocess.run([*command, f"--pwfile={secret}"], check=True, capture_output=True, **owner)
    port = free_port()
    options = ["-k", folder, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    server = subprocess.Popen([found[0] / "postgres", "-D", data, *options], **owner)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield port
    server.terminate()
    server.wait(timeout=20)
    shutil.rmtree(folder, ignore_errors=True)


def test_each_step_of_a_database_is_told(api: Any, postgres: int) -> None:
    def tried(secret: str = "p g'1", **settings: Any) -> Any:
        given = {"host": "127.0.0.1", "port": postgres, "database": "postgres", **settings}
        made = api.post("/connections", {**database(**given), "secrets": {"password": secret}}, 201)
        answer = api.post(f"/connections/{made['id']}/test")
        api.delete(f"/connections/{made['id']}")
        assert secret not in json.dumps(answer)
        return answer

    answer = tried()
    assert answer["ok"], answer
    assert [s["name"] for s in answer["steps"]] == [
        "Name", "Connection", "TLS", "Credentials", "Database",
    ]  # fmt: skip
    assert "PostgreSQL" in answer["steps"][-1]["message"]
    for wrong, last in (
        ({"secret": "wrong"}, "Credentials"),
        ({"user": "nobody"}, "Credentials"),
        ({"database": "none"}, "Database"),
        ({"sslmode": "require"}, "TLS"),
        ({"port": free_port()}, "Connection"),
    ):
        step = tried(**wrong)["steps"][-1]
        assert (step["name"], step["ok"]) == (last, False), step
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(host="127.0.0.1", port=postgres, user="ada", dbname="postgres")


class _Registry(BaseHTTPRequestHandler):
    """Answers the question for subjects as registries do, to one user."""

    def do_GET(self) -> None:
        account = base64.b64encode(b"ada:right").decode()
        if self.path == "/moved/subjects":
            self._answer(302, b"")
        elif self.path != "/subjects":
            self._answer(404, b"{}")
        elif self.headers.get("Authorization") != f"Basic {account}":
            self._answer(401, b"{}")
        else:
            self._answer(200, b'["orders-value"]')

    def _answer(self, status: int, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Location", "http://169.254.169.254/latest")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


def test_each_step_of_a_registry_is_told(api: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"

    def tried(url: str, password: str) -> Any:
        given = {
            "name": "registry", "type": "schema_registry",
            "settings": {"url": url, "user": "ada"}, "secrets": {"password": password},
        }  # fmt: skip
        made = api.post("/connections", given, 201)
        answer = api.post(f"/connections/{made['id']}/test")
        api.delete(f"/connections/{made['id']}")
        return answer["steps"]

    assert [(s["name"], s["ok"]) for s in tried(at, "right")] == [
        ("Name", True), ("Connection", True), ("Credentials", True), ("Registry", True),
    ]  # fmt: skip
    assert tried(at, "wrong")[-1]["name"] == "Credentials"
    assert [s["ok"] for s in tried(f"{at}/other", "right")][-1] is False
    assert "302" in tried(f"{at}/moved", "right")[-1]["message"], "it is not followed"
    server.shutdown()
    server.server_close()


# --- Deployments


def graph(connection: str) -> dict[str, Any]:
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {"connection": connection, "topics": ["lines"], "format": "text"}},
            {"id": "out", "type": "kafka_sink",
             "config": {"connection": connection, "topic": "out"}},
        ],
        "edges": [{"from": "lines", "to": "out"}],
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_a_connection_in_use_stays(api: Any, admin: User) -> None:
    made = api.post("/connections", body(), 201)
    pipeline = api.post("/pipelines", {"name": "Orders", "graph": graph("prod")}, 201)
    deployment, _ = actions.deploy(admin, pipeline["id"])
    refused = api.delete(f"/connections/{made['id']}", 409)
    assert "Orders" in refused["detail"]
    actions.stop(admin, deployment.pk)
    api.delete(f"/connections/{made['id']}")


@pytest.mark.django_db(transaction=True)
def test_a_runs_folder_has_secrets_in_one_file_of_its_owner(api: Any, admin: User) -> None:
    api.post("/connections", body(), 201)
    api.post("/connections", body("unused", secrets={"password": "unused-s3cr3t"}), 201)
    pipeline = api.post("/pipelines", {"graph": graph("prod")}, 201)
    deployment, _ = actions.deploy(admin, pipeline["id"])
    from django.utils import timezone

    run = Run(deployment=deployment, epoch=1, generation=1, started_at=timezone.now())
    process.write_folder(run)
    secrets = run.folder / SECRETS
    assert json.loads(secrets.read_text()) == {"prod": {"password": PASSWORD}}
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    for path in run.folder.iterdir():
        assert path == secrets or "s3cr3t" not in path.read_text()
    told = [
        api.get(f"/deployments/{deployment.pk}"),
        api.get(f"/pipelines/{pipeline['id']}"),
        api.get(f"/deployments/{deployment.pk}/activity"),
    ]
    told.append(api.call("GET", f"/pipelines/{pipeline['id']}/export?format=pyspark").content)
    assert "s3cr3t" not in str(told)


@pytest.mark.django_db(transaction=True)
def test_a_wrong_password_fails_at_once_and_for_good(
    api: Any, admin: User, kafka: SecuredKafka
) -> None:
    api.post("/connections", body_of(kafka, password="wrong-s3cr3t"), 201)
    pipeline = api.post("/pipelines", {"graph": graph("prod")}, 201)
    deployment, _ = actions.deploy(admin, pipeline["id"])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        reconcile(deployment.pk)
        deployment = Deployment.objects.get()
        if deployment.state == "failed":
            break
        time.sleep(0.2)
    assert (deployment.state, deployment.retry_at) == ("failed", None)
    assert "refuses the credentials" in deployment.message
    run = Run.objects.get()
    assert run.exit["code"] == 65
    for _ in range(3):
        reconcile(deployment.pk)
    assert Run.objects.count() == 1
    files = [path for path in deployment.folder.rglob("*") if path.is_file()]
    assert files
    assert not any(b"wrong-s3cr3t" in path.read_bytes() for path in files)
