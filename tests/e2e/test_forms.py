"""Forms that know what flows in: mistakes told and mended, renames followed, columns inferred."""

import json
import uuid

import pytest

from tests.runner import scenario

ORDERS = [{"user": "ann", "amount": 3.5, "at": "2026-01-31T08:00:00Z"}] * 3


def shop(headrace, topic="orders"):
    """A pipeline that reads orders and counts the big ones by user."""
    columns = [
        {"name": "user", "type": "string"},
        {"name": "amount", "type": "double"},
        {"name": "at", "type": "timestamp"},
    ]
    graph = {
        "version": 1,
        "steps": [
            {"id": "orders", "type": "kafka_source",
             "config": {"connection": "local", "topics": [topic], "columns": columns}},
            {"id": "big", "type": "filter",
             "config": {"condition": "amount > 1 and user <> 'amount'"}},
            {"id": "sums", "type": "aggregate",
             "config": {"group_by": ["user"], "aggregations": [
                 {"name": "total", "function": "sum", "expression": "amount"}]}},
            {"id": "out", "type": "kafka_sink",
             "config": {"connection": "local", "topic": f"{topic}-sums"}},
        ],
        "edges": [
            {"from": "orders", "to": "big"},
            {"from": "big", "to": "sums"},
            {"from": "sums", "to": "out"},
        ],
    }  # fmt: skip
    return headrace.post("/api/pipelines", {"name": "Shop", "graph": graph})["id"]


@pytest.fixture
def opened(headrace, page):
    """Opens a pipeline in the editor, once it was checked and Spark is warm."""

    def open_(id_):
        graph = headrace.get(f"/api/pipelines/{id_}")["graph"]

        def warm():
            answer = headrace.post("/api/check", {"graph": graph})
            return None if answer["analyzed"] else "Spark is not warm yet"

        headrace.until(warm, 60)
        page.goto(f"{headrace.url}/pipelines/{id_}")
        page.locator("article[data-step-id=orders]").wait_for()
        return page

    return open_


def steps(headrace, id_):
    """The configs of a saved draft, by step."""
    graph = headrace.get(f"/api/pipelines/{id_}")["graph"]
    return {step["id"]: step["config"] for step in graph["steps"]}


def until_saved(headrace, id_, expected):
    def check():
        found = steps(headrace, id_)
        return None if expected(found) else json.dumps(found)

    headrace.until(check, 10)


def open_step(page, step):
    page.locator(f"article[data-step-id={step}]").click()


def type_anew(page, field, text):
    """Replace what stands in an editor, key by key."""
    page.locator(f"[data-field='{field}'] .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_a_wrong_column_is_told_at_once_and_mended_with_a_click(headrace, opened):
    id_ = shop(headrace)
    page = opened(id_)
    open_step(page, "big")
    type_anew(page, "condition", "amont > 1 and user <> 'amont'")
    page.keyboard.press("Escape")
    field = page.locator("[data-field=condition]")
    field.get_by_text("There is no column amont. Did you mean amount?").wait_for(timeout=1000)
    page.locator("article[data-step-id=big]").get_by_label("1 problem").wait_for(timeout=1000)
    assert field.locator(".cm-wrong").all_text_contents() == ["amont"]
    field.get_by_role("button", name="Use amount").click()
    field.get_by_text("There is no column").wait_for(state="detached", timeout=1000)
    assert field.locator(".cm-wrong").count() == 0
    until_saved(headrace, id_, lambda s: s["big"]["condition"] == "amount > 1 and user <> 'amont'")


def take(page, option):
    """Take the offered word; in its first moments, a list is not meant by Enter."""
    option.wait_for()
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")


def test_completion_and_help_come_from_what_flows_in_and_from_spark(headrace, opened):
    page = opened(shop(headrace))
    open_step(page, "big")
    type_anew(page, "condition", "substrin")
    offered = page.locator(".cm-tooltip-autocomplete li")
    page.get_by_text("Returns the substring of str that starts at pos").first.wait_for()
    take(page, offered.filter(has_text="(str, pos[, len])").first)
    page.keyboard.type("use")
    take(page, offered.filter(has_text="userstring"))
    # Which argument is being written follows the cursor.
    active = page.locator(".cm-signature-help strong")
    assert active.text_content() == "str"
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    active.filter(has_text="pos").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type(" = 'x'")
    text = page.locator("[data-field=condition] .cm-content").text_content()
    assert text == "substring(user, 2) = 'x'"


def test_a_renamed_column_is_renamed_where_it_is_read(headrace, opened):
    id_ = shop(headrace)
    page = opened(id_)
    open_step(page, "orders")
    page.locator("[data-field='columns.1.name'] input").fill("price")
    # What breaks is marked, and what would mend it is offered.
    page.locator("article[data-step-id=big]").get_by_label("1 problem").wait_for()
    notice = page.get_by_test_id("rename-notice")
    notice.get_by_text("amount is price now.").wait_for()
    assert notice.locator("ins").all_text_contents() == ["price", "price"]
    notice.get_by_role("button", name="Rename there too").click()
    notice.wait_for(state="detached")
    page.locator("article[data-step-id=big]").get_by_label("1 problem").wait_for(state="detached")
    until_saved(
        headrace,
        id_,
        lambda s: (
            s["big"]["condition"] == "price > 1 and user <> 'amount'"
            and s["sums"]["aggregations"][0]["expression"] == "price"
        ),
    )
    # One step back takes back the renames further down, and nothing else; they are offered again.
    page.locator("article[data-step-id=orders]").focus()
    page.keyboard.press("Control+Z")
    until_saved(
        headrace,
        id_,
        lambda s: (
            s["big"]["condition"] == "amount > 1 and user <> 'amount'"
            and s["orders"]["columns"][1]["name"] == "price"
        ),
    )
    notice.get_by_role("button", name="Leave it").click()
    notice.wait_for(state="detached")


def test_columns_are_inferred_from_the_topic(headrace, opened):
    topic = f"orders-{uuid.uuid4().hex[:6]}"
    scenario.make_topics(headrace.servers, [topic])
    rows = [{**row, "tags": ["a"]} for row in ORDERS]
    scenario.produce(headrace.servers, topic, {"format": "json"}, rows)
    id_ = shop(headrace, topic)
    page = opened(id_)
    open_step(page, "orders")
    page.get_by_role("button", name="Infer columns…").click()
    dialog = page.get_by_role("dialog")
    proposals = dialog.get_by_test_id("proposal")
    proposals.first.wait_for()
    told = {
        row.locator(".mono").first.text_content(): row.get_attribute("data-state")
        for row in proposals.all()
    }
    assert told == {"user": "same", "amount": "same", "at": "same", "tags": "new"}
    assert dialog.get_by_role("cell", name="3.5").count() == 3
    dialog.get_by_role("button", name="Take 1 column").click()
    until_saved(
        headrace,
        id_,
        lambda s: s["orders"]["columns"][-1] == {"name": "tags", "type": "array<string>"},
    )


def test_the_program_follows_the_selected_step(headrace, opened):
    page = opened(shop(headrace))
    page.get_by_role("tab", name="Code").click()
    marked = page.get_by_test_id("code").locator(".cm-of-step")
    for step in ("sums", "big"):
        open_step(page, step)
        marked.filter(has_text=f"{step} = ").first.wait_for()
        assert marked.first.is_visible()
