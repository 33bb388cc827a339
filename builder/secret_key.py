"""The key that signs sessions: made at the first start, then kept."""

import os
import secrets
from pathlib import Path


def secret_key(data: Path) -> str:
    """Return the key kept in `data`, making it (readable by its owner only) where there is none."""
    path = data / "secret_key"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        mine = data / f"secret_key.{os.getpid()}"
        with os.fdopen(os.open(mine, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            # Several processes start at once; a link is made whole, and by one of them only.
            os.link(mine, path)
        except FileExistsError:
            pass
        finally:
            mine.unlink()
    return path.read_text()
