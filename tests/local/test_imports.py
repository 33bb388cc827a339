"""Imports go one way: builder → runner; Django stays in builder, Spark in the job processes."""

import ast
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITH_SPARK = {
    "runner.analyze",
    "runner.rehearse",
    "runner.state",
    "runner.host",
    "runner.write_class_archive",
}
BEFORE_ANYTHING_IS_INSTALLED = [
    "builder.local.install",
    "builder.local.java",
    "builder.local.node",
    "builder.local.process",
    "builder.local.progress",
    "builder.local.redis",
    "runner.jars",
]


def modules(package: str) -> list[str]:
    found = pkgutil.walk_packages([str(ROOT / package)], f"{package}.", onerror=lambda name: None)
    return [module.name for module in found if ".migrations" not in module.name]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def loaded(names: list[str], *flags: str) -> set[str]:
    """The top-level packages that stand in memory once `names` are imported."""
    program = (
        "import importlib, json, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, *flags, "-c", program, *names], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_runner_needs_neither_django_nor_spark() -> None:
    names = [name for name in modules("runner") if name not in WITH_SPARK]
    assert "runner.compile" in names
    assert loaded(names) & {"django", "pyspark", "builder"} == set()


def test_web_never_loads_spark() -> None:
    assert "pyspark" not in loaded(["builder.asgi"])


@pytest.mark.parametrize("path", sorted((ROOT / "runner").rglob("*.py")), ids=lambda p: p.name)
def test_the_runner_imports_nothing_of_the_builder(path: Path) -> None:
    packages = {name.partition(".")[0] for name in imported(path)}
    assert packages & {"django", "builder"} == set()
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    if module not in WITH_SPARK:
        assert "pyspark" not in packages


@pytest.mark.parametrize("path", sorted((ROOT / "builder").rglob("*.py")), ids=lambda p: p.name)
def test_the_builder_never_imports_spark(path: Path) -> None:
    assert "pyspark" not in {name.partition(".")[0] for name in imported(path)}


def test_what_installs_headrace_needs_nothing_installed() -> None:
    assert loaded(BEFORE_ANYTHING_IS_INSTALLED, "-S", "-E") & {"django", "celery", "kombu"} == set()
