"""Where Node is on this machine."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def find_node() -> Path | None:
    """Return the folder that holds a `node` the frontend's tools run on, with its `npm`, or None.

    Looks on the PATH, then for the Node that `make up` installed into this virtual
    environment.
    """
    return next((folder for folder in _candidates() if _will_do(folder)), None)


def node_folder() -> Path:
    """Return the folder of a usable Node; raises FileNotFoundError saying how to get one."""
    folder = find_node()
    if folder is None:
        raise FileNotFoundError("No Node 20 or newer was found. Run `make up`, which installs one.")
    return folder


def installed_node() -> Path:
    """Return where `make up` puts a Node of its own: inside the virtual environment."""
    return Path(sys.prefix) / "node" / "bin"


def _candidates() -> Iterator[Path]:
    if node := shutil.which("node"):
        yield Path(node).parent
    yield installed_node()


def _will_do(folder: Path) -> bool:
    if not (folder / "npm").exists():
        return False
    try:
        said = subprocess.run(
            [folder / "node", "--version"], capture_output=True, text=True, timeout=60
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.match(r"v(\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    # What Vite says of itself: 20 from 20.19 on, 22 from 22.12 on, none of the odd ones between.
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


if __name__ == "__main__":
    print(node_folder())
