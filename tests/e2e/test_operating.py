"""An operator's day in a real browser: an edit that does not fit, a way back, a rewind."""

import json
import uuid

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from playwright.sync_api import expect

from tests.runner import scenario


def count_of_words(headrace):
    """A pipeline that counts the words of a topic of its own; answers it with its topics."""
    lines = f"operated-{uuid.uuid4().hex[:6]}"
    topics = [lines, f"{lines}-counts"]
    scenario.make_topics(headrace.servers, topics, partitions=1)
    local = {"connection": "local"}
    steps = {
        "lines": ("kafka_source", {**local, "topics": [lines], "format": "text"}),
        "counts": ("aggregate", {
            "group_by": ["value"], "aggregations": [{"name": "count", "function": "count"}],
        }),
        "out": ("kafka_sink", {**local, "topic": topics[1]}),
    }  # fmt: skip
    graph = {
        "version": 1,
        "steps": [{"id": id_, "type": t, "config": c} for id_, (t, c) in steps.items()],
        "edges": [{"from": "lines", "to": "counts"}, {"from": "counts", "to": "out"}],
        "canvas": {"layout": {id_: {"x": 260 * n, "y": 0} for n, id_ in enumerate(steps)}},
    }
    return headrace.post("/api/pipelines", {"name": f"Count {lines}", "graph": graph}), topics


def write(headrace, topic, *words):
    rows = [{"value": word} for word in words]
    scenario.produce(headrace.servers, topic, {"format": "text"}, rows)


def values(headrace, topic):
    """The value of every record, also of those that say again what another has said."""
    settings = {"group.id": "unused", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": headrace.servers, **settings})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found = []
    try:
        while (message := consumer.poll(10)) is not None:
            if error := message.error():
                assert error.code() == KafkaError._PARTITION_EOF, error
                break
            found.append(json.loads(message.value()))
    finally:
        consumer.close()
    return found


def until_newest(headrace, topic, **expected):
    """Wait until the newest rows of these words are so."""

    def check():
        newest = {row.pop("value"): row for row in values(headrace, topic)}
        found = {word: newest.get(word) for word in expected}
        return None if found == expected else f"{found} is not {expected}"

    headrace.until(check, 30)


def until_runs(headrace, page, id_, epoch, version):
    """Wait until this run is the one that processes rows, and until the page says so."""

    def check():
        found = headrace.deployment(id_)
        assert found["state"] != "failed", found["message"]
        runs = [(run["epoch"], run["version"], run["standby"]) for run in found["runs"]]
        good = found["state"] == "running" and runs[0] == (epoch, version, False)
        return None if good else f"{found['state']}, {found['message']} {runs}"

    headrace.until(check, 90)
    state = page.get_by_test_id("deployment-state")
    expect(state).to_have_attribute("data-state", "running")
    expect(page.locator("header")).to_contain_text(f"version {version}")


def test_an_edit_that_does_not_fit_is_told_before_and_taken_back(headrace, page):
    pipeline, (lines, counts) = count_of_words(headrace)
    write(headrace, lines, "a", "b", "a")
    editor = f"{headrace.url}/pipelines/{pipeline['id']}"

    # The first time there is nothing that an edit could not fit.
    page.goto(editor)
    page.get_by_role("button", name="Deploy", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_test_id("plan").get_by_role("listitem").first.wait_for()
    expect(dialog.get_by_test_id("fit")).to_have_count(0)
    dialog.get_by_role("button", name="Deploy now").click()
    page.wait_for_url("**/deployments/**")
    id_ = page.url.partition("/deployments/")[2].partition("?")[0]
    until_runs(headrace, page, id_, 1, 1)
    until_newest(headrace, counts, a={"count": 2}, b={"count": 1})
    expect(page.get_by_role("button", name="Roll back")).to_have_count(0)

    # What else it shall remember does not fit what it remembers, and that is said before.
    graph = pipeline["graph"]
    graph["steps"][1]["config"]["aggregations"].append(
        {"name": "most", "function": "max", "expression": "value"}
    )
    draft = headrace.get(f"/api/pipelines/{pipeline['id']}")
    body = {"revision": draft["revision"], "name": draft["name"], "graph": graph}
    saved = headrace.session.put(f"{headrace.url}/api/pipelines/{pipeline['id']}", json=body)
    assert saved.ok, saved.text
    page.goto(editor)
    page.get_by_role("button", name="Deploy", exact=True).click()
    fit = dialog.get_by_test_id("fit")
    fate = fit.get_by_role("listitem")
    expect(fate).to_have_attribute("data-fate", "anew", timeout=30_000)
    expect(fate).to_contain_text("What counts remembers does not fit this edit")
    dialog.get_by_text("begin afresh", exact=True).click()
    expect(fate).to_have_attribute("data-fate", "afresh")
    dialog.get_by_text("keep", exact=True).click()
    dialog.get_by_role("button", name="Deploy now").click()
    page.wait_for_url("**/deployments/**")
    until_runs(headrace, page, id_, 2, 2)
    write(headrace, lines, "c")
    until_newest(
        headrace, counts, a={"count": 2, "most": "a"}, c={"count": 1, "most": "c"},
    )  # fmt: skip

    # Rolled back, it goes on counting where the version before had stopped.
    page.get_by_role("button", name="Roll back").click()
    expect(dialog).to_contain_text("from version 2 to version 1")
    expect(fate).to_have_attribute("data-fate", "goes_on", timeout=30_000)
    dialog.get_by_role("button", name="Roll back to version 1").click()
    until_runs(headrace, page, id_, 3, 1)
    write(headrace, lines, "a")
    until_newest(headrace, counts, a={"count": 3}, c={"count": 1})

    # Rewound to the end, it counts from nothing, and reads no row again.
    page.get_by_role("button", name="Rewind").click()
    dialog.get_by_text("latest", exact=True).click()
    expect(dialog).to_contain_text("What its steps remember is forgotten")
    expect(dialog).to_contain_text("passed over")
    dialog.get_by_role("button", name="Rewind", exact=True).click()
    until_runs(headrace, page, id_, 4, 1)
    write(headrace, lines, "a")
    until_newest(headrace, counts, a={"count": 1}, c={"count": 1})

    # All of it can be looked up: which run had which version, who did what, what each wrote.
    page.get_by_role("tab", name="Runs").click()
    for epoch, version in ((1, 1), (2, 2), (3, 1), (4, 1)):
        cells = page.locator(f"[data-run='{epoch}'] td")
        expect(cells.nth(1)).to_have_text(str(version))
    page.get_by_role("tab", name="Activity").click()
    activity = page.get_by_role("list", name="Activity")
    expect(activity).to_contain_text("rolled back from version 2 to 1")
    expect(activity).to_contain_text("rewound")
    page.get_by_role("tab", name="Versions").click()
    expect(page.locator("[data-version='1']")).to_contain_text("deployed")
    expect(page.locator("[data-version='2']")).to_contain_text("Deploy version 2")
    page.get_by_role("tab", name="Logs").click()
    page.get_by_label("Search the log").fill("Setting default log level")
    expect(page.get_by_role("region", name="Run 4")).to_contain_text("Setting default log level")
    page.get_by_role("button", name="Stop", exact=True).click()
    headrace.until_state(id_, "stopped", 60)
