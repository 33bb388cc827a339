"""Watching: an input that breaks, its alert, a dead letter mended, replayed and counted."""

import json
import uuid

from playwright.sync_api import expect

from tests.runner import scenario

COLUMNS = [{"name": "customer", "type": "string"}, {"name": "amount", "type": "double"}]
BROKEN = '{"customer": "ann", "amount": "much"}'
MENDED = '{"customer": "ann", "amount": 7}'


def spent_by_customer(headrace):
    """A pipeline that sums what each customer spends, deployed; its deployment and topics."""
    orders = f"watched-{uuid.uuid4().hex[:6]}"
    topics = [orders, f"{orders}-sums"]
    scenario.make_topics(headrace.servers, topics, partitions=2)
    local = {"connection": "local"}
    steps = {
        "orders": ("kafka_source", {**local, "topics": [orders], "columns": COLUMNS}),
        "sums": ("aggregate", {
            "group_by": ["customer"],
            "aggregations": [{"name": "spent", "function": "sum", "expression": "amount"}],
        }),
        "out": ("kafka_sink", {**local, "topic": topics[1]}),
    }  # fmt: skip
    graph = {
        "version": 1,
        "steps": [{"id": id_, "type": t, "config": c} for id_, (t, c) in steps.items()],
        "edges": [{"from": "orders", "to": "sums"}, {"from": "sums", "to": "out"}],
        "canvas": {"layout": {id_: {"x": 260 * n, "y": 0} for n, id_ in enumerate(steps)}},
    }
    pipeline = headrace.post("/api/pipelines", {"name": f"Sum {orders}", "graph": graph})
    deployment = headrace.post("/api/deployments", {"pipeline": pipeline["id"]})
    headrace.until_state(deployment["id"], "running")
    return deployment["id"], topics


def until_spent(headrace, topic, expected):
    """Wait until the newest sums are so."""

    def check():
        rows = [json.loads(row["_value"]) for row in scenario.read_all(headrace.servers, [topic])]
        found = {row["customer"]: row["spent"] for row in rows}
        return None if found == expected else f"{found} is not {expected}"

    headrace.until(check, 40)


def step_mark(page, step, mark):
    return page.locator(f"[data-step-id={step}] [data-mark={mark}]")


def step_count(page, step):
    return page.locator(f"[data-step-id={step}] [data-testid=step-count]")


def test_a_broken_input_is_told_mended_and_replayed(headrace, page, tmp_path):
    id_, (orders, sums) = spent_by_customer(headrace)
    page.goto(f"{headrace.url}/deployments/{id_}")
    good = [json.dumps({"customer": "bob", "amount": n}) for n in (1, 2)]
    scenario.write(headrace.servers, orders, good, key="bob")
    expect(step_count(page, "orders")).to_have_attribute("data-count", "2", timeout=30_000)

    # It breaks: the canvas says where, an alert says so in words.
    scenario.write(headrace.servers, orders, [BROKEN], key="ann", headers=[("trace", b"7")])
    expect(step_mark(page, "orders", "errors")).to_have_attribute("data-count", "1", timeout=30_000)
    alert = page.get_by_test_id("alert")
    expect(alert).to_contain_text("1 record could not be read in the last minute", timeout=30_000)
    expect(alert).to_contain_text("orders")
    page.screenshot(path=tmp_path / "alert.png")

    # Its dead letter says why, where it stood, and what it was.
    page.get_by_role("tab", name="Dead letters").click()
    expect(page.get_by_test_id("letters-count")).to_have_text("1 dead letter")
    page.get_by_role("button", name=f"Look at {orders}-").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The value is no JSON object of the declared columns.")
    expect(dialog.get_by_role("region", name="Headers")).to_contain_text("trace")
    faults = dialog.get_by_test_id("value-faults")
    expect(faults).to_contain_text("amount is text; the step declares double.")
    page.screenshot(path=tmp_path / "letter.png")

    # Mended and replayed, it is read, and counted.
    dialog.get_by_label("Value to send").fill(MENDED)
    expect(faults).to_contain_text("The step can read this.")
    dialog.get_by_role("button", name="Replay edited").click()
    expect(page.get_by_test_id("replayed")).to_contain_text("1 dead letter was replayed.")
    expect(page.locator("[data-letter]")).to_contain_text("replayed")
    expect(step_count(page, "orders")).to_have_attribute("data-count", "3", timeout=30_000)
    until_spent(headrace, sums, {"bob": 3.0, "ann": 7.0})
    page.screenshot(path=tmp_path / "replayed.png")

    # Once more is only for those who insist; then all of it can be looked up.
    page.get_by_role("checkbox", name=f"Select {orders}-").check()
    page.get_by_role("button", name="Replay selected (1)").click()
    expect(page.get_by_text("was already replayed at")).to_be_visible()
    page.get_by_role("tab", name="Activity").click()
    activity = page.get_by_role("list", name="Activity")
    expect(activity).to_contain_text("replayed a dead letter of orders")
    look_at_its_topic(headrace, page, orders, tmp_path)
    headrace.post(f"/api/deployments/{id_}/stop")
    headrace.until_state(id_, "stopped", 60)


def look_at_its_topic(headrace, page, topic, tmp_path):
    """From the connections to the topic's records: searched, live, and one written by hand."""
    page.goto(f"{headrace.url}/connections")
    page.get_by_role("link", name=topic, exact=True).click()
    page.wait_for_url(f"**/topics/{topic}")
    expect(page.get_by_test_id("topic-summary")).to_contain_text("2 partitions · 4 records")
    lines = page.locator("[data-record]")
    expect(lines).to_have_count(4)
    page.get_by_label("Whole key").fill("ann")
    expect(lines).to_have_count(2)
    expect(page.get_by_test_id("records-said")).to_contain_text("Looked at 4 records, 2 match.")
    lines.first.get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("region", name="Headers")).to_contain_text("headrace.replayed")
    page.keyboard.press("Escape")

    page.get_by_role("switch", name="Live").press("Space")
    page.get_by_role("button", name="Write a record").click()
    dialog.get_by_role("textbox", name="Key", exact=True).fill("ann")
    dialog.get_by_role("textbox", name="Value", exact=True).fill("{oops")
    dialog.get_by_role("button", name="Write", exact=True).click()
    expect(dialog).to_contain_text("It is no JSON")
    dialog.get_by_role("textbox", name="Value", exact=True).fill(MENDED)
    dialog.get_by_role("button", name="Write", exact=True).click()
    expect(page.locator("[data-record]")).to_have_count(3)
    page.screenshot(path=tmp_path / "topic.png")
    page.get_by_role("tab", name="Partitions").click()
    expect(page.get_by_role("table", name="Partitions").get_by_role("row")).to_have_count(3)
    page.get_by_role("tab", name="Pipelines").click()
    expect(page.get_by_role("table", name="Pipelines")).to_contain_text("reads it")
    page.get_by_role("tab", name="Consumer groups").click()
    expect(page.get_by_text("No consumer group")).to_be_visible()
