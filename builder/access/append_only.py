"""What makes the database itself refuse to change or delete activity."""

from django.db.backends.base.base import BaseDatabaseWrapper

_SAYS = "Activity is never changed or deleted."
_SQLITE = [
    f"""CREATE TRIGGER IF NOT EXISTS access_activity_no_{verb}
    BEFORE {verb} ON access_activity BEGIN SELECT RAISE(ABORT, '{_SAYS}'); END"""
    for verb in ("update", "delete")
]
_POSTGRESQL = [
    f"""CREATE OR REPLACE FUNCTION access_activity_append_only() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION '{_SAYS}'; END $$ LANGUAGE plpgsql""",
    """CREATE OR REPLACE TRIGGER access_activity_append_only
    BEFORE UPDATE OR DELETE ON access_activity
    FOR EACH ROW EXECUTE FUNCTION access_activity_append_only()""",
]
_PUT_UP = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
_TAKE_DOWN = {
    "sqlite": [
        "DROP TRIGGER IF EXISTS access_activity_no_update",
        "DROP TRIGGER IF EXISTS access_activity_no_delete",
    ],
    "postgresql": ["DROP TRIGGER IF EXISTS access_activity_append_only ON access_activity"],
}


def put_up_guard(connection: BaseDatabaseWrapper) -> None:
    """Have the database refuse. Needed again after a migration that alters the table on SQLite."""
    _execute(connection, _PUT_UP[connection.vendor])


def take_down_guard(connection: BaseDatabaseWrapper) -> None:
    """Have the database allow it, as a migration of the table may need."""
    _execute(connection, _TAKE_DOWN[connection.vendor])


def _execute(connection: BaseDatabaseWrapper, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
