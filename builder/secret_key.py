"""Keys that are made at the first start, then kept, readable by their owner only."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def secret_key(data: Path) -> str:
    """Return the key in `data` that signs sessions, making it where there is none."""
    return kept_text(data / "secret_key", lambda: secrets.token_urlsafe(48))


def kept_text(path: Path, make: Callable[[], str]) -> str:
    """Return what stands in the file, which is what `make` gave when it was first asked for."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mine = path.with_name(f"{path.name}.{os.getpid()}")
        write_private(mine, make())
        try:
            # Several processes start at once; a link is made whole, and by one of them only.
            os.link(mine, path)
        except FileExistsError:
            pass
        finally:
            mine.unlink()
    return path.read_text()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
