"""What a deployment's tables hold, as the API is asked for it."""

from typing import Any

import pytest

from tests.builder.conftest import Api

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def deployed(api: Api, local: Any) -> str:
    """The address of a deployed word count."""
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    return f"/deployments/{deployment['id']}/state"


def test_the_tables_are_listed_with_their_keys(api: Api, deployed: str) -> None:
    (table,) = api.get(deployed)["tables"]
    assert table["step"] == "counts"
    assert [column["name"] for column in table["key"]] == ["word"]
    assert (table["mode"], table["kept"], table["live"]) == ("real_time", "state", True)


@pytest.mark.parametrize(
    ("step", "status", "detail"),
    [
        ("nothing", 404, "There is no step nothing; of the tables, those here are: counts."),
        ("words", 422, "words gives no table; those here are: counts."),
        ("counts", 503, "Spark is starting, or away; try again in a moment."),
    ],
)
def test_what_can_not_be_answered_is_said(
    api: Api, deployed: str, step: str, status: int, detail: str
) -> None:
    answer = api.get(f"{deployed}/{step}", status=status)
    assert answer["detail"] == detail


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "from=yesterday", "live=perhaps"])
def test_a_query_out_of_bounds_is_refused(api: Api, deployed: str, query: str) -> None:
    assert query.partition("=")[0] in api.get(f"{deployed}/counts?{query}", status=422)["detail"]
