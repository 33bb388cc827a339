"""What `make` puts onto a machine, and what it takes from there."""

import json
import os
import re
import stat
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest

from builder.local.install import JAVA_SHIM, compile_java, uv_environment
from builder.local.java import find_java, java_version
from builder.local.node import find_node
from builder.local.progress import Failed
from runner.jars import broker_jars, spark_jars

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(ROOT.glob("requirements*.lock"))


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_uv_reaches_the_index_as_pip_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_SYSTEM_CERTS", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_CERT", "/etc/company.pem")
    found = uv_environment()
    assert found["UV_DEFAULT_INDEX"] == "https://packages.example/simple"
    assert found["SSL_CERT_FILE"] == "/etc/company.pem"
    assert found["UV_SYSTEM_CERTS"] == "1"
    # What somebody set for uv itself is theirs.
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example/simple")
    assert "UV_DEFAULT_INDEX" not in uv_environment()


def test_the_java_shim_drops_one_word_and_keeps_the_rest(tmp_path: Path) -> None:
    java = program(tmp_path / "real java", 'for word do printf "%s\\n" "$word"; done')
    text = JAVA_SHIM.replace("{java}", f"'{java}'").replace("{password}", "headrace")
    shim = tmp_path / "java" / "bin" / "java"
    shim.parent.mkdir(parents=True)
    shim.write_text(text)
    shim.chmod(0o755)
    given = [
        "-Xmx1g",
        "--add-modules=jdk.incubator.vector",
        "-cp",
        "a b:c",
        "Main",
        "$HOME",
        "",
        "*",
    ]
    kept = [word for word in given if "incubator" not in word]
    assert subprocess.check_output([shim, *given], text=True).split("\n")[:-1] == kept
    (tmp_path / "java" / "trust.p12").touch()
    trusting = subprocess.check_output([shim, *given], text=True).split("\n")[:-1]
    assert trusting[0] == f"-Djavax.net.ssl.trustStore={tmp_path}/java/trust.p12"
    assert trusting[2:] == kept


def test_java_home_comes_first_unless_it_is_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.8.0_392", "11.0.2", "21.0.8"):
        home = tmp_path / version
        program(home / "bin" / "java", "true")
        (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    assert java_version(tmp_path / "21.0.8") == 21
    assert java_version(tmp_path) is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "21.0.8"))
    assert find_java() == tmp_path / "21.0.8"
    for old in ("1.8.0_392", "11.0.2"):
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / old))
        assert find_java() != tmp_path / old


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "java", """echo 'openjdk version "17.0.15" 2025' >&2""")
    assert java_version(tmp_path) == 17


@pytest.mark.parametrize(
    ("version", "will_do"),
    [
        ("18.20.4", False),
        ("20.18.0", False),
        ("20.19.2", True),
        ("21.7.0", False),
        ("22.11.0", False),
        ("22.12.0", True),
        ("24.19.0", True),
    ],
)
def test_node_is_taken_where_vite_runs_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, will_do: bool
) -> None:
    program(tmp_path / "node", f"echo v{version}")
    program(tmp_path / "npm", "true")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setattr("builder.local.node.installed_node", lambda: tmp_path / "none")
    assert find_node() == (tmp_path if will_do else None)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_python_locks_hold_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    for requirement in re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==\S+", requirement)
        assert "--hash=sha256:" in requirement


def test_what_runs_is_locked_the_same_for_development() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^[\w.-]+==\S+", (ROOT / name).read_text(), re.MULTILINE))

    assert pins("requirements.lock") < pins("requirements-dev.lock")


def test_the_frontend_lock_is_whole_and_holds_no_addresses() -> None:
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    for name, package in packages.items():
        assert "resolved" not in package, name
        # `npm ci` refuses a lock that leaves out what other machines than its writer's need.
        for dependency in package.get("optionalDependencies", {}):
            places = (f"node_modules/{dependency}", f"{name}/node_modules/{dependency}")
            assert any(place in packages for place in places), (name, dependency)


def test_the_jars_are_those_that_work_together() -> None:
    wanted = {
        f"{jar.get('name')}-{jar.get('rev')}.jar": (jar.get("conf") or "").partition("->")[0]
        for jar in ElementTree.parse(ROOT / "runner" / "ivy.xml").iter("dependency")
    }
    found = {jar.name for jar in spark_jars()}
    resolved = {name for name, conf in wanted.items() if conf == "spark"}
    assert found == resolved | {"headrace-operators.jar"}
    assert {name for name, conf in wanted.items() if conf == "broker"} < {
        jar.name for jar in broker_jars()
    }


def test_java_sources_become_the_same_jar_each_time(tmp_path: Path) -> None:
    source, jar = tmp_path / "One.java", tmp_path / "one.jar"
    source.write_text("package a; class One { org.apache.spark.sql.Row row; class Two {} }")
    compile_java([source], jar)
    first = jar.read_bytes()
    assert zipfile.ZipFile(jar).namelist() == ["a/One$Two.class", "a/One.class"]
    compile_java([source], jar)
    assert jar.read_bytes() == first
    source.write_text("package a; class One { Row row; }")
    with pytest.raises(Failed, match=r"(?s)One\.java.*Row cannot be resolved.*do not compile"):
        compile_java([source], jar)
    assert jar.read_bytes() == first


def test_ci_needs_only_what_the_readme_names() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    targets = set(
        re.findall(r"^([a-z]+):(?! export)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    called = re.findall(r"^make (.+)$", script.read_text(), re.MULTILINE)
    assert set(" ".join(called).split()) == {"lint", "types", "test"} < targets
    readme = set(re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / "README.md").read_text(), re.M))
    assert {"up", "test"} <= readme <= targets
