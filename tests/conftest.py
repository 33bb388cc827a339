"""Tests run in a data folder of their own, with a real Redis beside it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.headrace import Headrace

# Settings are read as soon as Django is set up, which is before any fixture runs. A short
# path, because the socket of Redis stands in it.
DATA = Path(tempfile.mkdtemp(prefix="headrace-test-"))
os.environ["HEADRACE_DATA"] = str(DATA)
os.environ["REDIS_URL"] = f"unix://{DATA}/redis.sock"
os.environ["DJANGO_SETTINGS_MODULE"] = "builder.settings"
os.environ["HEADRACE_HOSTS"] = "localhost,127.0.0.1,testserver"
# HEADRACE_TEST_DATABASE_URL runs the tests on PostgreSQL, where SQLite is the default.
os.environ["DATABASE_URL"] = os.environ.get("HEADRACE_TEST_DATABASE_URL", "")
# What tests start lives for seconds: compiling it well would take longer than running it, and a
# collector beside the work takes from it.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
for variable in ("HEADRACE_KAFKA", "HEADRACE_SPARK_MASTER", "HEADRACE_HTTPS"):
    os.environ.pop(variable, None)

# Two processes share the tests file by file: what takes longest begins first, lest one of them
# be left alone with it at the end.
LONGEST = (
    "runner/test_scenarios.py",
    "runner/test_host.py",
    "local/test_up.py",
    "builder/test_worker.py",
    "runner/test_replace.py",
    "builder/test_redis_away.py",
)


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        # Each process of a parallel run reads the settings of its own folder, as this one did.
        del os.environ["DJANGO_SETTINGS_MODULE"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> int:
        file = "/".join(item.path.parts[-2:])
        return LONGEST.index(file) if file in LONGEST else len(LONGEST)

    items.sort(key=turn)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The HEADRACE_DATA of this test run."""
    return DATA


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """A real Redis for as long as the tests run; answers its URL."""
    from builder.local.redis import start_redis

    server = start_redis(DATA)
    yield server.url
    server.process.terminate()
    server.process.wait(timeout=10)


@pytest.fixture(scope="session")
def headrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Headrace"]:
    """A whole Headrace, the same for all tests of a run."""
    from tests.headrace import Headrace

    running = Headrace(tmp_path_factory.mktemp("headrace") / "data")
    running.data.mkdir(exist_ok=True)
    running.start()
    yield running
    assert running.stop() == 0


def pytest_unconfigure() -> None:
    shutil.rmtree(DATA, ignore_errors=True)
