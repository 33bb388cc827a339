"""Environments: what a connection's name means there, how Spark runs, and what is refused."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from builder.access.models import Activity
from builder.connections import kafka
from builder.connections.models import Connection
from builder.deployments import process
from builder.deployments.models import Deployment, Run
from builder.deployments.preflight import hindrance
from builder.deployments.reconcile import reconcile
from builder.environments.conf import ALLOWED
from builder.environments.models import Environment, connections_in, profile_of
from runner.compile import CONF

PROFILE = {"master": "", "cores": None, "driver_memory": "", "executor_memory": "", "conf": {}}


@pytest.fixture
def prod(local: Connection) -> Connection:
    """A second cluster, where no broker is either."""
    return Connection.objects.create(name="prod-kafka", bootstrap_servers="127.0.0.1:2")


@pytest.fixture
def pipeline(api: Any, local: Connection) -> Any:
    return api.post("/pipelines", {"template": "word-count"}, 201)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Something that takes connections, as the master of a cluster does."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        yield server


def written(deployment: Deployment) -> Any:
    """The run.json that a run of this deployment would be given."""
    run = Run.objects.create(
        deployment=deployment, epoch=1, generation=1, started_at=timezone.now()
    )
    process.write_folder(run)
    return json.loads((run.folder / "run.json").read_text())


def test_made_changed_listed_deleted(api: Any, prod: Connection) -> None:
    wanted = {
        "name": "production",
        "connections": {"local": "prod-kafka"},
        "profile": {
            "master": "spark://master-1:7077,master-2:7077", "cores": 12, "driver_memory": "2g",
            "executor_memory": "4g", "conf": {"spark.locality.wait": "0s"},
        },
    }  # fmt: skip
    refused = api.post("/environments", wanted, 422)
    assert [p["field"] for p in refused["problems"]] == ["conf.spark.locality.wait"]
    wanted["profile"]["conf"] = {"spark.locality.wait": "100ms"}
    made = api.post("/environments", wanted, 201)
    assert {k: made[k] for k in wanted} == wanted
    assert api.post("/environments", wanted, 409)["detail"].startswith("There is an environment")

    listed = api.get("/environments")
    assert (listed["count"], listed["items"]) == (1, [made])
    assert {s["name"] for s in listed["settings"]} == set(ALLOWED)

    changed = api.put("/environments/production", {"name": "production"})
    assert (changed["connections"], changed["profile"]) == ({}, PROFILE)
    assert api.get("/environments/production") == changed
    api.put("/environments/production", {"name": "other"}, 409)
    api.get("/environments/none", 404)
    api.delete("/environments/production")
    assert api.get("/environments")["count"] == 0
    verbs = Activity.objects.filter(subject="environment").values_list("verb", flat=True)
    assert list(verbs) == ["delete", "change", "add"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("spark.jars", "/tmp/evil.jar", "load code"),
        ("spark.jars.packages", "a:b:1", "load code"),
        ("spark.plugins", "a.B", "load code"),
        ("spark.extraListeners", "a.B", "load code"),
        ("spark.sql.extensions", "a.B", "load code"),
        ("spark.sql.catalog.x", "a.B", "load code"),
        ("spark.serializer", "a.B", "load code"),
        ("spark.hadoop.fs.s3.impl", "a.B", "load code"),
        ("spark.executor.extraClassPath", "/tmp", "load code"),
        ("spark.pyspark.python", "/tmp/python", "load code"),
        ("spark.driver.extraJavaOptions", "-XX:OnOutOfMemoryError=reboot", "run commands"),
        ("spark.executor.defaultJavaOptions", "-agentpath:/x", "run commands"),
        ("spark.executorEnv.LD_PRELOAD", "/x.so", "run commands"),
        ("spark.executor.resource.gpu.discoveryScript", "/x", "run commands"),
        ("spark.ui.enabled", "true", "open ports"),
        ("spark.driver.bindAddress", "0.0.0.0", "open ports"),
        ("spark.blockManager.port", "1", "open ports"),
        ("spark.acls.enable", "false", "who may come in"),
        ("spark.sql.variable.substitute", "true", "read the environment or files"),
        ("spark.sql.runSQLOnFiles", "true", "read the environment or files"),
        ("spark.sql.shuffle.partitions", "200", "checkpoints depend on it"),
        ("spark.sql.streaming.stateStore.providerClass", "a.B", "checkpoints depend on it"),
        ("spark.master", "local[8]", "field of its own"),
        ("spark.driver.memory", "4g", "field of its own"),
        ("spark.something.else", "1", "none of the settings"),
        ("spark.io.compression.codec", "com.evil.Codec", "lz4, lzf, snappy or zstd"),
        ("spark.memory.fraction", "1.5", "share between 0 and 1"),
        ("spark.network.timeout", "${env:SECRET}", "a time such as"),
    ],
)
def test_what_can_not_be_set(name: str, value: str, says: str, api: Any) -> None:
    wanted = {"name": "x", "profile": {"conf": {"spark.locality.wait": "1s", name: value}}}
    (problem,) = api.post("/environments", wanted, 422)["problems"]
    assert problem["field"] == f"conf.{name}"
    assert says in problem["message"]
    assert not Environment.objects.exists()


def test_what_may_be_set_touches_nothing_that_headrace_sets() -> None:
    """The gates of expressions and the form of checkpoints stay closed to environments."""
    from runner.host import CONF as HOST

    assert not ALLOWED.keys() & (CONF.keys() | HOST.keys())


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("master", "yarn", "spark://host:port"),
        ("master", "k8s://https://x", "spark://host:port"),
        ("master", "local-cluster[2,1,1024]", "spark://host:port"),
        ("master", "spark://nowhere", "no address"),
        ("master", "spark://169.254.169.254:80", "no place"),
        ("cores", 0, "1 to 9999"),
        ("driver_memory", "2 gigs", "such as"),
        ("executor_memory", "-Xmx4g", "such as"),
    ],
)
def test_a_profile_that_is_none(field: str, value: Any, says: str, api: Any) -> None:
    refused = api.post("/environments", {"name": "x", "profile": {field: value}}, 422)
    (problem,) = refused["problems"]
    assert problem["field"] == field
    assert says in problem["message"]


def test_all_problems_at_once(api: Any, local: Connection) -> None:
    wanted = {
        "name": "x",
        "connections": {"local": "gone", "Bad Name": "local"},
        "profile": {"master": "yarn", "conf": {"spark.jars": "x"}},
    }
    problems = api.post("/environments", wanted, 422)["problems"]
    assert [p["field"] for p in problems] == [
        "connections.local", "connections.Bad Name", "master", "conf.spark.jars",
    ]  # fmt: skip
    body = {"name": "x", "profile": {"classes": "x"}}
    assert api.post("/environments", body, 422)["problems"][0]["field"] == "profile.classes"


def test_masked_columns_are_handed_to_runs(api: Any, pipeline: Any) -> None:
    made = api.post("/environments", {"name": "default", "masks": ["email", "*_token"]}, 201)
    assert made["masks"] == ["email", "*_token"]
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    assert written(Deployment.objects.get())["masks"] == ["email", "*_token"]
    for masks, says in (["**"], "every column"), ([" "], "1 to 100"), (["a"] * 101, "the most"):
        refused = api.put("/environments/default", {"name": "default", "masks": masks}, 422)
        (problem,) = refused["problems"]
        assert (problem["field"], says in problem["message"]) == ("masks", True)


def test_a_name_means_another_connection(api: Any, pipeline: Any, prod: Connection) -> None:
    wanted = {"name": "production", "connections": {"local": "prod-kafka"}}
    api.post("/environments", wanted, 201)
    body = {"pipeline": pipeline["id"], "environment": "production"}
    api.post("/deployments", body, 201)
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    there = Deployment.objects.get(environment="production")
    here = Deployment.objects.get(environment="default")
    assert "127.0.0.1:2" in there.script
    assert "127.0.0.1:1" not in there.script
    assert "127.0.0.1:1" in here.script
    assert written(there)["connections"]["local"]["bootstrap_servers"] == "127.0.0.1:2"
    assert written(here)["connections"]["local"]["bootstrap_servers"] == "127.0.0.1:1"
    found = hindrance(there)
    assert found is not None
    assert "prod-kafka does not answer" in found.message

    # By whatever name it goes, it is the same cluster.
    api.put(f"/connections/{prod.pk}", {"name": "renamed", "bootstrap_servers": "127.0.0.1:3"})
    assert api.get("/environments/production")["connections"] == {"local": "renamed"}
    assert connections_in("production")["local"]["bootstrap_servers"] == "127.0.0.1:3"
    refused = api.delete(f"/connections/{prod.pk}", 409)
    assert "production" in refused["detail"]
    assert Connection.objects.filter(pk=prod.pk).exists()


def test_what_spark_is_given(api: Any, pipeline: Any, settings: Any) -> None:
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    deployment = Deployment.objects.get()
    about = written(deployment)
    assert (about["master"], about["conf"]) == (None, deployment.conf)
    Run.objects.all().delete()

    profile = {
        "master": "spark://127.0.0.1:7077", "cores": 6, "driver_memory": "1g",
        "executor_memory": "2g", "conf": {"spark.locality.wait": "1s"},
    }  # fmt: skip
    api.post("/environments", {"name": "default", "profile": profile}, 201)
    about = written(deployment)
    assert about["master"] == "spark://127.0.0.1:7077"
    assert about["conf"] == {
        **deployment.conf, "spark.locality.wait": "1s", "spark.driver.memory": "1g",
        "spark.executor.memory": "2g", "spark.cores.max": "6",
    }  # fmt: skip

    for master, cores, given in (
        ("local[*]", None, None), ("local", None, None), ("local[3]", None, "local[3]"),
        ("local[*]", 5, "local[5]"),
    ):  # fmt: skip
        api.put(
            "/environments/default",
            {"name": "default", "profile": {"master": master, "cores": cores}},
        )
        profile_now = profile_of("default")
        assert (profile_now.runner_master, profile_now.addresses) == (given, [])
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"spark_master": "spark://m:1"})
    assert profile_of("unmade").runner_master == "spark://m:1"
    assert profile_of("unmade").addresses == [("m", 1)]


def test_a_cluster_that_is_away_is_said_and_costs_no_process(
    api: Any, pipeline: Any, listener: socket.socket
) -> None:
    port = listener.getsockname()[1]
    profile = {"master": f"spark://127.0.0.1:1,127.0.0.1:{port}"}
    api.post("/environments", {"name": "far", "profile": profile}, 201)
    body = {"pipeline": pipeline["id"], "environment": "far"}
    made = api.post("/deployments", body, 201)
    reconcile(made["id"])
    said = api.get(f"/deployments/{made['id']}")
    assert said["state"] == "backing_off"
    assert said["message"].startswith("The Spark cluster of the environment far does not answer")
    assert f"127.0.0.1:{port} (Connection refused)" in said["message"]
    assert said["runs"] == []
    assert Deployment.objects.get().retry_at > timezone.now()

    # One of its masters is there again: now it is the broker that is missing.
    listener.listen()
    Deployment.objects.update(retry_at=None)
    reconcile(made["id"])
    assert (
        "The connection local does not answer" in api.get(f"/deployments/{made['id']}")["message"]
    )


def test_an_environment_in_use_stays(api: Any, pipeline: Any, admin: User) -> None:
    api.post("/environments", {"name": "test"}, 201)
    api.post("/deployments", {"pipeline": pipeline["id"], "environment": "test"}, 201)
    refused = api.delete("/environments/test", 409)
    assert pipeline["name"] in refused["detail"]
    assert Environment.objects.filter(name="test").exists()
    Deployment.objects.all().delete()
    api.delete("/environments/test")


def test_cores_that_are_too_few_are_said_before(
    api: Any, pipeline: Any, local: Connection, broker: str
) -> None:
    local.bootstrap_servers = broker
    local.save()
    topic = pipeline["graph"]["steps"][0]["config"]["topics"][0]
    kafka.create_topic(broker, topic, 3)
    api.post("/environments", {"name": "small", "profile": {"cores": 4}}, 201)
    body = {"pipeline": pipeline["id"], "environment": "small"}
    (problem,) = api.post("/deployments", body, 422)["problems"]
    # Three partitions that are read, two that rows are shuffled into.
    assert "needs 5 cores" in problem["message"]
    assert "has 4" in problem["message"]
    assert problem["field"] == "environment"
    assert not Deployment.objects.exists()
    # Batches come and go, so they need no more than one.
    api.post("/deployments", {**body, "mode": "micro_batch"}, 201)

    api.put("/environments/small", {"name": "small", "profile": {"cores": 5}})
    made = api.post("/deployments", body, 200)
    assert hindrance(Deployment.objects.get(pk=made["id"])) is None
    api.put("/environments/small", {"name": "small", "profile": {"cores": 2}})
    found = hindrance(Deployment.objects.get(pk=made["id"]))
    assert found is not None
    assert "needs 5 cores" in found.message


def test_the_admin_says_on_each_field_what_is_wrong(
    admin: User, client: Client, local: Connection
) -> None:
    client.force_login(admin)
    add = "/admin/environments/environment/add/"
    given = {
        "name": "prod", "connections": '{"local": "gone"}', "master": "yarn", "cores": "",
        "driver_memory": "", "executor_memory": "", "conf": '{"spark.jars": "x"}',
    }  # fmt: skip
    refused = client.post(add, given)
    assert refused.status_code == 200
    errors = refused.context["adminform"].form.errors
    assert set(errors) == {"connections", "master", "conf"}
    sound = {**given, "connections": '{"local": "local"}', "master": "local[*]", "conf": "{}"}
    assert client.post(add, sound).status_code == 302
    made = Environment.objects.get()
    assert made.stands_for == {"local": "local"}
    assert Activity.objects.filter(subject="environment", verb="add", user=admin).count() == 1

    change = f"/admin/environments/environment/{made.pk}/change/"
    assert "{&quot;local&quot;: &quot;local&quot;}" in client.get(change).content.decode()
    assert client.post(change, {**sound, "cores": "7"}).status_code == 302
    assert profile_of("prod").cores == 7
    assert Activity.objects.filter(subject="environment", verb="change").count() == 1
