"""The key of a record: the plain text of one column, a JSON object of several or of none."""

from runner import sql
from runner.rows import GROUP, Rows

# One key for all rows, so that they stay in order.
NO_COLUMNS = "{}"


def key_text(rows: Rows, names: list[str] | tuple[str, ...]) -> str:
    """The text of these columns as a record's key, as the Python source of a column."""
    if not names:
        return f"F.lit({NO_COLUMNS!r})"
    if is_plain(names):
        return f"{rows.column(names[0])}.cast('string')"
    return json_text(rows, names)


def is_plain(names: list[str] | tuple[str, ...]) -> bool:
    """Whether the key of these columns is a column's plain text, and so null where that is."""
    return len(names) == 1 and names[0] != "window"


def key_sql(rows: Rows, names: list[str] | tuple[str, ...]) -> str:
    """The text of these columns as a record's key, as SQL."""
    parts = [rows.bindings.get(name, sql.quoted(name)) for name in names]
    if not parts:
        return f"'{NO_COLUMNS}'"
    if is_plain(names):
        return f"CAST({parts[0]} AS STRING)"
    named = ", ".join(
        f"{part} AS {sql.quoted(name)}" for part, name in zip(parts, names, strict=True)
    )
    return f"TO_JSON(STRUCT({named}), MAP('ignoreNullFields', 'false'))"


def with_group(code: str) -> str:
    """A DataFrame whose rows are named by a hash of their `_key`, as Python source."""
    return f"{code}.withColumn({GROUP!r}, F.xxhash64('_key'))"


def json_text(rows: Rows, names: list[str] | tuple[str, ...]) -> str:
    """These columns as a JSON object, nulls included, as the Python source of a column."""
    return f"F.to_json({rows.struct(names)}, {{'ignoreNullFields': 'false'}})"
