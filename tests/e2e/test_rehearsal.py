"""A drawing tried in a real browser: rows from its topic, a test case, and a mistake it finds."""

import uuid

import pytest
from playwright.sync_api import expect

from tests.runner import scenario

VIEWS = [
    {"user": "ada", "product": "tea"},
    {"user": "bob", "product": None},
    {"user": "cem", "product": "cup"},
    {"value": "{ cut off"},
]


@pytest.fixture
def pipeline(headrace):
    """Views in a topic, of which those of a known product are kept."""
    topic = f"tried-{uuid.uuid4().hex[:6]}"
    scenario.make_topics(headrace.servers, [topic, f"{topic}-out"], partitions=1)
    scenario.produce(headrace.servers, topic, {"format": "json"}, VIEWS)
    columns = [{"name": name, "type": "string"} for name in ("user", "product")]
    source = {"connection": "local", "topics": [topic], "format": "json", "columns": columns}
    steps = {
        "views": ("kafka_source", source),
        "known": ("filter", {"condition": "product is not null"}),
        "out": ("kafka_sink", {"connection": "local", "topic": f"{topic}-out"}),
    }
    graph = {
        "version": 1,
        "steps": [{"id": id_, "type": t, "config": c} for id_, (t, c) in steps.items()],
        "edges": [{"from": "views", "to": "known"}, {"from": "known", "to": "out"}],
        "canvas": {"layout": {id_: {"x": 260 * n, "y": 0} for n, id_ in enumerate(steps)}},
    }
    made = headrace.post("/api/pipelines", {"name": f"Known {topic}", "graph": graph})

    def spark():
        there = headrace.get("/api/health")["checks"]["rehearsal_worker"]
        return None if there["ok"] else there["message"]

    headrace.until(spark, 60)
    return made


def until_counted(page, **counts):
    """Wait until a test has put these counts on the steps."""
    for step, count in counts.items():
        found = page.locator(f"[data-step-id={step}] [data-testid=tested-count]")
        expect(found).to_have_attribute("data-count", str(count), timeout=60_000)
        expect(found).to_have_attribute("data-outdated", "false")


def write_condition(page, text):
    page.locator("[data-step-id=known]").click()
    editor = page.locator("[data-field=condition] .cm-content")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_a_test_case_keeps_a_mistake_from_being_deployed_unnoticed(headrace, page, pipeline):
    page.goto(f"{headrace.url}/pipelines/{pipeline['id']}")

    # Without rows there is nothing to test with, and the way to them is shown.
    page.get_by_role("button", name="Test", exact=True).click()
    page.get_by_role("button", name="Take from topic…").click()
    page.get_by_role("button", name="Add 4 rows").click()
    expect(page.get_by_label("user of row 1")).to_have_value("ada")
    expect(page.get_by_label("value of row 4")).to_have_value("{ cut off")

    page.get_by_role("button", name="Test", exact=True).click()
    until_counted(page, views=3, known=2, out=2)
    expect(page.get_by_test_id("outcome")).to_contain_text("1 dead letter")
    page.locator("[data-step-id=known]").click()
    rows_out = page.get_by_test_id("step-rows").get_by_role("region", name="Rows out").first
    expect(rows_out.get_by_role("row")).to_have_count(3)
    expect(rows_out).to_contain_text("cem")

    # Rows are there again after the page was loaded anew, and can be changed by hand.
    page.reload()
    page.get_by_role("tab", name="Rows", exact=True).click()
    page.get_by_label("product of row 2").fill("pot")
    page.keyboard.press("Control+Enter")
    until_counted(page, views=3, known=3, out=3)
    page.get_by_role("button", name="Save as test case").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("known products pass")
    dialog.get_by_role("button", name="Save", exact=True).click()
    dialog.wait_for(state="detached")
    (case,) = headrace.get(f"/api/pipelines/{pipeline['id']}/test-cases")["items"]
    assert [row["user"] for row in case["expected"]["out"]] == ["ada", "bob", "cem"]
    assert list(case["expected"]) == ["out"]

    # A mistake in the filter marks what was tested before, and the case tells the rows it costs.
    write_condition(page, "product <> 'cup'")
    counted = page.locator("[data-step-id=known] [data-testid=tested-count]")
    expect(counted).to_have_attribute("data-outdated", "true")
    page.get_by_role("tab", name="Test cases").click()
    page.get_by_role("button", name="Run known products pass").click()
    diff = page.get_by_test_id("diff")
    diff.wait_for(timeout=60_000)
    (line,) = diff.locator("tbody tr").all()
    assert "missing" in line.inner_text()
    assert "cem" in line.inner_text()
    expect(page.locator("[data-case]")).to_contain_text("failed")

    # It can be deployed all the same, but not without being told.
    page.get_by_role("button", name="Deploy", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Deploy all the same")).to_be_enabled(timeout=60_000)
    expect(dialog.get_by_test_id("deploy-tests")).to_contain_text("known products pass")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")

    # Mended, it passes, and the button says so.
    write_condition(page, "product is not null")
    page.get_by_role("button", name="Deploy", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("deploy-tests")).to_contain_text("passes", timeout=60_000)
    expect(dialog.get_by_role("button", name="Deploy now")).to_be_enabled()
