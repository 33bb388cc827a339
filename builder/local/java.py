"""Where Java is on this machine."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = 17
USUAL_FOLDERS = ("/usr/lib/jvm", "/usr/local/lib/jvm", "/opt/java", "/opt/jdk")


def find_java() -> Path | None:
    """Return the home of a Java that Spark and Kafka can run on, or None.

    Looks at JAVA_HOME, at `java` on the PATH, in the usual folders, and last for the
    Java that `make up` installed into this virtual environment.
    """
    return next((home for home in _candidates() if (java_version(home) or 0) >= OLDEST), None)


def java_home() -> Path:
    """Return the home of a usable Java; raises FileNotFoundError saying how to get one."""
    home = find_java()
    if home is None:
        raise FileNotFoundError(
            f"No Java {OLDEST} or newer was found. Run `make up`, which installs one, "
            "or set JAVA_HOME."
        )
    return home


def java_version(home: Path) -> int | None:
    """Return the major version of the Java at `home`, None where there is none that runs."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    release = home / "release"
    if release.is_file():
        said = release.read_text(errors="replace")
        pattern = r'^JAVA_VERSION="(\d+)'
    else:
        try:
            answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return None
        said = answer.stderr
        pattern = r'version "(\d+)'
    found = re.search(pattern, said, re.MULTILINE)
    return int(found[1]) if found else None


def installed_home() -> Path:
    """Return where `make up` puts a Java of its own: inside the virtual environment."""
    return Path(sys.prefix) / "java"


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    for folder in USUAL_FOLDERS:
        yield from sorted(Path(folder).glob("*"), key=_by_age)
    yield installed_home()


def _by_age(home: Path) -> tuple[int, str]:
    # The oldest that will do comes first: it is the one Spark has been tested on longest.
    return (java_version(home) or sys.maxsize, home.name)


if __name__ == "__main__":
    print(java_home())
