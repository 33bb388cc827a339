"""A newcomer's way, in a real browser: from a template to a running job, and drawn by mouse."""

import json
import time
import uuid

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
        counts = [json.loads(row["value"]) for row in rows]
        good = counts and all(set(c) == {"word", "count"} and c["count"] > 0 for c in counts)
        return None if good else f"the topic holds {counts[:5]}"

    headrace.until(check, 10)
    stop(headrace, page)


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
        good = [json.loads(value)["value"] for value in found] == ["seven", "three"]
        return None if good else f"the topic holds {found}"

    headrace.until(check, 60)
    stop(headrace, page)
