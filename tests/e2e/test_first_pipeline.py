"""A newcomer's way, in a real browser: from a template to a running job, and drawn by mouse."""

import json
import time
import uuid

from tests.e2e.numbers import RIGHT_AGAIN_MS, Lines, expect_counts, expect_listed, expect_overview
from tests.runner import scenario


def counted(page, step):
    """The live count on a step of the canvas."""
    return int(
        page.locator(f"[data-step-id={step}] [data-testid=step-count]").get_attribute("data-count")
    )


def until_more(page, step, than, seconds):
    """Wait until the count on a step has risen above a number; answers it."""
    page.wait_for_function(
        "([step, than]) => Number(document.querySelector("
        "`[data-step-id=${step}] [data-testid=step-count]`)?.dataset.count ?? 0) > than",
        arg=[step, than],
        timeout=seconds * 1000,
    )
    return counted(page, step)


def deploy(page):
    """Click Deploy and confirm; answers when the second click was."""
    page.get_by_role("button", name="Deploy", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Deploy").click()
    clicked = time.monotonic()
    page.wait_for_url("**/deployments/**")
    return clicked


def stop(headrace, page):
    id_ = page.url.partition("/deployments/")[2].partition("?")[0]
    page.get_by_role("button", name="Stop", exact=True).click()
    headrace.until_state(id_, "stopped", 60)


def test_word_count_from_its_template(headrace, page):
    page.get_by_role("button", name="From template").click()
    page.locator("[data-template=word-count]").click()
    page.wait_for_url("**/pipelines/**")
    clicked = deploy(page)
    first = until_more(page, "counts", 0, 30)
    took = time.monotonic() - clicked
    assert took < 30
    print(f"first counts {took:.1f} s after the click")
    until_more(page, "counts", first, 10)

    def check():
        rows = scenario.read_all(headrace.servers, ["word-counts"])
        counts = [json.loads(row["_value"]) for row in rows]
        good = counts and all(set(c) == {"word", "count"} and c["count"] > 0 for c in counts)
        return None if good else f"the topic holds {counts[:5]}"

    headrace.until(check, 10)
    asked_while_it_runs(headrace, page)
    stop(headrace, page)


def asked_while_it_runs(headrace, page):
    """Ask the counts by key over REST and on the page: they are those of the topic."""
    id_ = page.url.partition("/deployments/")[2].partition("?")[0]

    def in_topic():
        rows = [
            json.loads(r["_value"]) for r in scenario.read_all(headrace.servers, ["word-counts"])
        ]
        return {row["word"]: row["count"] for row in rows}

    word, least = max(in_topic().items(), key=lambda item: item[1])

    def ask():
        answer = headrace.session.get(
            f"{headrace.url}/api/deployments/{id_}/state/counts", params={"key": word}
        )
        if answer.status_code in (503, 504):
            return answer.text
        found.append(answer.json())
        return None

    # The worker that answers may just have been started.
    found = []
    headrace.until(ask, 90)
    (row,) = found[-1]["rows"]
    assert least <= row["count"] <= in_topic()[word]
    assert found[-1]["from"] == "topic"
    page.get_by_role("tab", name="State").click()
    page.get_by_text("by key", exact=True).click()
    page.get_by_label("word", exact=True).fill(word)
    page.get_by_role("button", name="Ask").click()
    table = page.get_by_role("table", name="Rows of")
    table.get_by_role("cell", name=word, exact=True).wait_for()
    rows = table.locator("tbody tr")
    headrace.until(lambda: None if rows.count() == 1 else f"{rows.count()} rows", 20)
    assert int(table.get_by_role("cell").nth(1).inner_text()) >= row["count"]


def drag(page, begin, end):
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(begin[0] + 8, begin[1] + 4)
    page.mouse.move(*end, steps=8)
    page.mouse.up()


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_pipeline_drawn_by_mouse(headrace, page):
    topic = f"drawn-{uuid.uuid4().hex[:6]}"
    scenario.make_topics(headrace.servers, [topic, f"{topic}-out"])
    page.get_by_role("button", name="New", exact=True).click()
    page.wait_for_url("**/pipelines/**")
    canvas = page.locator(".react-flow__pane").bounding_box()
    middle_y = canvas["y"] + 220

    def field(name):
        return page.locator(f"[data-field={name}]").first

    def dropped(type_, x):
        item = page.get_by_role("navigation").locator(f"button[data-step-type={type_}]")
        drag(page, middle(item), (canvas["x"] + x, middle_y))
        card = page.locator(f"article[data-step-type={type_}]")
        card.wait_for()
        return card

    source = dropped("kafka_source", 130)
    # The panel of a step covers the canvas' right side; the next drop needs the room.
    field("topics").locator("input").first.fill(topic)
    page.keyboard.press("Enter")
    field("format").get_by_text("text", exact=True).click()
    kept = dropped("filter", 380)
    condition = field("condition").locator(".cm-content")
    condition.click()
    page.keyboard.type("length(valu) > 3")
    sink = dropped("kafka_sink", 630)
    field("topic").locator("input").first.fill(f"{topic}-out")
    page.keyboard.press("Escape")

    def join(one, other):
        drag(
            page,
            middle(one.locator(".react-flow__handle.source")),
            middle(other.locator(".react-flow__handle.target")),
        )

    join(source, kept)
    join(kept, sink)
    assert page.locator(".react-flow__edge").count() == 2

    # A wrong column is named on the step and under its field, and goes when it is mended.
    kept.click()
    page.get_by_text("There is no column valu. Did you mean value?").first.wait_for()
    condition.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("length(value) > 3")
    page.get_by_text("There is no column valu.").first.wait_for(state="detached")

    # Deleting a step is undone in one go, its edges with it.
    kept.click()
    page.keyboard.press("Delete")
    kept.wait_for(state="detached")
    page.keyboard.press("Control+Z")
    kept.wait_for()
    assert page.locator(".react-flow__edge").count() == 2

    deploy(page)
    id_ = page.url.partition("/deployments/")[2].partition("?")[0]
    headrace.until_state(id_, "running", 120)
    rows = [{"value": word} for word in ("one", "three", "seven", "two")]
    scenario.produce(headrace.servers, topic, {"format": "text"}, rows)

    def check():
        found = sorted(r["value"] for r in scenario.read_all(headrace.servers, [f"{topic}-out"]))
        return None if found == ["seven", "three"] else f"the topic holds {found}"

    headrace.until(check, 60)
    expect_overview(page, {"kafka_source": 4, "filter": 2, "kafka_sink": 2})
    expect_listed(headrace, page, id_)
    right_again_after_a_cut(headrace, page, id_, topic)
    stop(headrace, page)


def right_again_after_a_cut(headrace, page, id_, topic):
    """What a page has missed while its line was bad it shows soon after the line was cut."""
    lines = Lines(page)
    page.goto(f"{headrace.url}/deployments/{id_}")
    expect_counts(page, {"kafka_source": 4})
    lines.silence()
    scenario.produce(headrace.servers, topic, {"format": "text"}, [{"value": "eight"}] * 3)

    def check():
        steps = headrace.deployment(id_)["metrics"]["steps"].values()
        counts = [step["out"] for step in steps]
        return None if counts == [7, 5, 5] else f"the steps have counted {counts}"

    headrace.until(check, 30)
    expect_counts(page, {"kafka_source": 4})
    lines.cut()
    page.locator("[data-step-type=kafka_source] [data-count='7']").wait_for(timeout=RIGHT_AGAIN_MS)
    expect_counts(page, {"kafka_source": 7, "filter": 5, "kafka_sink": 5})
