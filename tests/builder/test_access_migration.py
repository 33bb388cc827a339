"""An installation from before there were roles goes on working."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def migrate(folder: Path, *target: str) -> None:
    environment = {**os.environ, "HEADRACE_DATA": str(folder), "DATABASE_URL": ""}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", *target]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def test_who_could_do_something_still_can(tmp_path: Path) -> None:
    migrate(tmp_path, "access", "0001")
    migrate(tmp_path, "auth")
    database = sqlite3.connect(tmp_path / "headrace.sqlite3", isolation_level=None)
    database.executemany(
        "INSERT INTO auth_user (id, username, is_superuser, is_staff, is_active, password, "
        "first_name, last_name, email, date_joined) "
        "VALUES (?, ?, ?, ?, 1, '', '', '', '', '2026-01-01')",
        [(1, "root", 1, 1), (2, "staff", 0, 1), (3, "draws", 0, 0), (4, "looks", 0, 0)],
    )
    migrate(tmp_path, "pipelines", "0002")
    permission = database.execute(
        "SELECT id FROM auth_permission WHERE codename = 'change_pipeline'"
    ).fetchone()
    database.execute(
        "INSERT INTO auth_user_user_permissions (user_id, permission_id) VALUES (3, ?)", permission
    )
    database.execute(
        "INSERT INTO access_activity (id, at, user_id, verb, subject, subject_id, message) "
        "VALUES ('a', '2026-01-01', 2, 'add', 'pipeline', 'b', 'staff made it')"
    )
    migrate(tmp_path)
    held = database.execute(
        "SELECT username, role, folder, pipeline_id FROM access_grant "
        "JOIN auth_user ON auth_user.id = access_grant.user_id ORDER BY username, role"
    ).fetchall()
    assert held == [
        ("draws", "editor", "", None), ("draws", "viewer", "", None),
        ("looks", "viewer", "", None), ("staff", "admin", "", None),
    ]  # fmt: skip
    assert database.execute("SELECT username FROM access_activity").fetchall() == [("staff",)]
    for statement in ("UPDATE access_activity SET message = ''", "DELETE FROM access_activity"):
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            database.execute(statement)
    database.close()
