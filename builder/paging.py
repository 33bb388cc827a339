"""Pages of lists."""

from typing import Any, TypeVar

from django.db.models import QuerySet
from ninja import Field, Schema

Item = TypeVar("Item")


class Page(Schema):
    """Which part of a list to answer."""

    page: int = Field(1, ge=1, le=1_000_000)
    page_size: int = Field(50, ge=1, le=200)

    def of(self, rows: QuerySet[Any]) -> dict[str, Any]:
        """This page of the rows, and how many there are in all."""
        first = (self.page - 1) * self.page_size
        return {"items": list(rows[first : first + self.page_size]), "count": rows.count()}


class SearchedPage(Page):
    """Which part of a list to answer, of those that match."""

    search: str = Field("", max_length=200, pattern=r"^[^\x00-\x1f]*$")
