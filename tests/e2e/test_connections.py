"""A connection with name and password, made, tried, mended and deleted in the browser."""

import pytest

from tests.secured_kafka import PASSWORD, USER, secured_kafka

STEPS = ["Address", "Name", "Connection", "TLS", "Credentials"]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with secured_kafka(tmp_path_factory.mktemp("secured")) as running:
        yield running


def choose(page, label, option):
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_secured_cluster_is_made_tried_and_mended(headrace, page, kafka, tmp_path):
    page.goto(f"{headrace.url}/connections")
    page.get_by_role("button", name="Add a connection").click()
    form = page.get_by_role("dialog")
    form.get_by_role("textbox", name="Name", exact=True).fill("secured")
    form.get_by_role("textbox", name="Bootstrap servers").fill(kafka.secured)
    choose(page, "Security", "SASL_SSL")
    choose(page, "How to log in", "SCRAM-SHA-512")
    form.get_by_role("textbox", name="User name").fill(USER)
    form.get_by_label("Password").first.fill("wrong")
    form.get_by_role("textbox", name="CA certificate").fill("none")
    form.get_by_role("button", name="Add", exact=True).click()
    form.get_by_text("This is no certificate in PEM").wait_for()
    form.get_by_role("textbox", name="CA certificate").fill(kafka.authority)
    page.screenshot(path=tmp_path / "form.png")
    form.get_by_role("button", name="Add", exact=True).click()
    form.wait_for(state="hidden")

    card = page.locator("[data-connection=secured]")
    card.get_by_role("button", name="Test", exact=True).click()
    card.get_by_text("The cluster refuses who we say we are").wait_for()
    assert card.locator("li b").all_inner_texts() == STEPS
    assert card.get_by_label("failed").count() == 1

    card.get_by_role("button", name="Change secured").click()
    assert form.get_by_label("Password").first.input_value() == ""
    form.get_by_label("Password").first.fill(PASSWORD)
    form.get_by_role("button", name="Save").click()
    form.wait_for(state="hidden")
    card.get_by_role("button", name="Test", exact=True).click()
    card.get_by_text("can be seen").wait_for()
    assert card.locator("li b").all_inner_texts() == [*STEPS, "Kafka", "Topics"]
    assert card.get_by_label("worked").count() == 7
    page.screenshot(path=tmp_path / "steps.png", full_page=True)
    assert PASSWORD not in page.content()

    card.get_by_role("button", name="Delete secured").click()
    form.get_by_role("button", name="Delete").click()
    card.wait_for(state="detached")
    names = [c["name"] for c in headrace.get("/api/connections")["items"]]
    assert names == ["local"]
