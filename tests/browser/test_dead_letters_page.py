"""A dead letter topic on the Reprocess page: counts, samples and the plan, over a real broker."""

from __future__ import annotations

import uuid

import pytest

from scenes.records import make_topic
from support import dead_letter_topics as dead

pytestmark = [pytest.mark.browser, pytest.mark.kafka]


@pytest.fixture(scope="module")
def topics(broker):
    name = uuid.uuid4().hex[:6]
    orders, letters = f"orders-{name}", f"orders-dlq-{name}"
    make_topic(broker, orders, 2)
    make_topic(broker, letters, 3)
    dead.fail_records(broker, orders, letters, 40, parts=[0, 2])
    dead.fail_records(broker, orders, letters, 12, parts=[2], kind=dead.streams, start=100)
    dead.write(broker, [{"topic": letters, "value": b"Jane Doe, 42", "partition": 0}])
    return orders, letters


@pytest.fixture(scope="module")
def letters_console(tmp_path_factory, serving, broker, topics):
    file = tmp_path_factory.mktemp("letters") / "headgate.toml"
    file.write_text(
        f'[kafka]\nbootstrap_servers = "{broker}"\n[[pipeline]]\nname = "billing"\n'
        f'engine = "consumer-group"\ngroup = "billing"\ntopics = ["{topics[0]}"]\n'
    )
    yield from serving(file)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_a_topic_is_shown_by_reason_with_masked_samples(
    letters_console, topics, visit, shoot, scheme
):
    address = "reprocess?pipeline=billing&scenario=dead-letters"
    page = visit(address, at=letters_console, scheme=scheme, size=(1280, 1700))
    field = page.get_by_role("textbox", name="Dead letter topic", exact=True)
    field.fill(topics[1])
    field.press("Enter")
    page.get_by_text("No undo is possible for 1 step").first.wait_for()
    page.get_by_text("java.lang.IllegalStateException").first.wait_for()
    page.get_by_text("xxxx xxx, 00").first.wait_for()
    assert page.get_by_text("Jane Doe").count() == 0
    shoot(page, f"dead-letters-{scheme}")
    page.get_by_text("Samples, one for each reason").scroll_into_view_if_needed()
    shoot(page, f"dead-letters-samples-{scheme}")
