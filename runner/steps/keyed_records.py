from collections.abc import Iterator

from pydantic import Field

from runner import sql
from runner.fields import ColumnRef
from runner.rows import DELETED, Rows
from runner.step_type import Fault, key_faults
from runner.steps.kafka_records import KafkaRecords


class KeyedRecords(KafkaRecords):
    """The fields of every step that reads topics as the newest row of each key."""

    key: list[ColumnRef] = Field(
        default_factory=lambda: ["_key"],
        title="Key",
        description="The columns that name a row; else the records' key. Of a deletion they are "
        "read from the record's key: plain text of one column, a JSON object of several.",
        min_length=1,
        max_length=20,
        json_schema_extra={"format": "columns"},
    )

    def key_names(self) -> tuple[str, ...]:
        """The columns of the key, in the letters that they are declared in."""
        return Rows("table", self.value_columns()).spelled(self.key)

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        yield from key_faults(self.gives().without(DELETED), self.key)

    def value_of(self, name: str) -> str:
        """A column of the value, and of the key also where there is no value, as Python source."""
        value = super().value_of(name)
        if name not in self.key_names():
            return value
        type_ = next(c.type or "string" for c in self.value_columns() if c.name == name)
        return f"F.coalesce({value}, {self._read_back(name, type_)})"

    def _read_back(self, name: str, type_: str) -> str:
        text = "CAST(key AS STRING)"
        if len(self.key) == 1:
            return f"F.expr({f'TRY_CAST({text} AS {type_})'!r})"
        schema = f"{sql.quoted(name)} {type_}"
        return f"F.from_json(F.col('key').cast('string'), {schema!r}).getField({name!r})"
