"""docker-compose.yml and the Dockerfile say what is so."""

import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml

from builder.local.jobs import commands

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "headrace"}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_it_is_a_compose_file() -> None:
    checker = Path(sys.prefix) / "bin" / "check-jsonschema"
    command = [checker, "--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_everything_that_headrace_consists_of_is_there() -> None:
    assert set(OURS) == {
        "prepare",
        "web",
        "control",
        "spark",
        "rehearsal",
        "outgoing",
        "beat",
        "spark-master",
        "spark-worker",
    }
    assert set(SERVICES) - set(OURS) == {"postgres", "redis", "kafka"}


@pytest.mark.parametrize("name", OURS)
def test_what_a_service_runs_exists(name: str) -> None:
    command = list(OURS[name]["command"])
    if command[:3] == ["python", "-m", "builder.local.jobs"]:
        assert importlib.util.find_spec("builder.local.jobs")
        for beside in commands(command[3:]):
            exists(beside)
    else:
        exists(command)


def exists(command: list[str]) -> None:
    if command[:2] == ["python", "manage.py"]:
        assert (ROOT / "builder/management/commands" / f"{command[2]}.py").exists()
        return
    assert shutil.which(command[0], path=str(Path(sys.prefix) / "bin"))
    if command[0] == "spark-class":
        file = command[1].replace(".", "/") + ".class"
        [core] = Path(pyspark.__path__[0]).glob("jars/spark-core_*.jar")
        assert file in zipfile.ZipFile(core).namelist()
    else:
        module = command[1].partition(":")[0] if command[0] == "uvicorn" else command[2]
        assert importlib.util.find_spec(module)


def test_the_supervisor_lives_where_the_jobs_are() -> None:
    assert [name for name, s in OURS.items() if "supervise" in s["command"]] == ["control"]


def test_each_queue_has_one_service_that_serves_it() -> None:
    queues = [
        service["command"][service["command"].index("--queues") + 1]
        for service in OURS.values()
        if "--queues" in service["command"]
    ]
    settings = (ROOT / "builder" / "settings.py").read_text()
    assert sorted(queues) == ["control", "outgoing", "rehearsal", "spark"]
    assert all(f'"{queue}"' in settings for queue in queues)


def test_every_variable_means_something_to_headrace() -> None:
    from builder.settings import Environment

    known = {
        str(field.validation_alias or f"HEADRACE_{name.upper()}")
        for name, field in Environment.model_fields.items()
    }
    given = set(SERVICES["web"]["environment"])
    assert given <= known
    chosen = {"DATABASE_URL", "REDIS_URL", "HEADRACE_KAFKA", "HEADRACE_SPARK_MASTER"}
    assert chosen <= given


def test_no_password_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    variables = re.findall(r"(?<!\$)\$\{(\w+)([^}]*)\}", text)
    secrets = {(name, rest) for name, rest in variables if "PASSWORD" in name}
    assert {name for name, _ in secrets} >= {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert all(rest.startswith(":?") for _, rest in secrets)
    for service in SERVICES.values():
        for name, value in (service.get("environment") or {}).items():
            if "PASSWORD" in name or "AUTH" in name:
                assert re.fullmatch(r"\$\{\w+:\?[^}]*\}", str(value)), name


def test_every_service_that_stays_says_how_it_is() -> None:
    assert [name for name, service in SERVICES.items() if "healthcheck" not in service] == [
        "prepare"
    ]
    for name, service in SERVICES.items():
        for other, wanted in (service.get("depends_on") or {}).items():
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other], (name, other)


def test_jobs_are_given_an_init_time_and_the_shared_folder() -> None:
    control = SERVICES["control"]
    assert control["init"] is True
    assert int(control["stop_grace_period"].removesuffix("s")) >= 60
    data = {
        name for name, service in OURS.items() if "data:/var/lib/headrace" in service["volumes"]
    }
    assert data == set(OURS) - {"spark-master"}
    used = {volume.partition(":")[0] for s in SERVICES.values() for volume in s.get("volumes", [])}
    assert used == set(COMPOSE["volumes"])


def test_only_web_is_open_and_only_to_this_machine() -> None:
    assert {name: s["ports"] for name, s in SERVICES.items() if "ports" in s} == {
        "web": ["127.0.0.1:${HEADRACE_PORT:-8000}:8000"]
    }


def copied() -> Iterator[str]:
    for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE):
        words = line.split()
        if not words[0].startswith("--from="):
            yield from words[:-1]


def test_the_image_is_made_of_files_that_exist_and_are_let_in() -> None:
    let_in = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    sources = list(copied())
    assert {"builder", "runner", "manage.py"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert source.partition("/")[0] in let_in, source


def test_the_image_runs_as_nobody_special() -> None:
    users = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert users == ["headrace"]
    assert DOCKERFILE.index("USER headrace") < DOCKERFILE.index("CMD")
