"""Debian's Chromium, driven by Playwright."""

import shutil
from typing import Any

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find() -> str | None:
    """Where Chromium is, or None where it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def launch(playwright: Any) -> Any:
    """Start it without a window; raises FileNotFoundError where it is not installed."""
    path = find()
    if path is None:
        raise FileNotFoundError("Chromium is not installed")
    return playwright.chromium.launch(executable_path=path, args=FLAGS)
