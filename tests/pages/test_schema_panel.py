"""A topic's schema beside the landscape and the topology, as `AppTest` sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pages.test_pages import text
from support.ports import free_port

pytestmark = pytest.mark.slow
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "amount_cents", "type": ["null", "long"], "default": None},
    ],
}


@pytest.fixture
def declared(seeded: Path) -> Path:
    (seeded.parent / "order.avsc").write_text(json.dumps(ORDER))
    with seeded.open("a") as file:
        file.write('\n[topics.orders]\nschema = "order.avsc"\n')
    return seeded


def test_a_selected_topic_shows_its_fields_and_who_reads_them(open_page, declared):
    at = open_page("landscape", node="topic:orders")
    assert not at.exception
    said = text(at)
    assert "Schema of orders" in said
    assert "amount_cents" in said and "null | long" in said
    assert "Fields read" in said and "orders-by-city" in said


def test_a_topic_without_a_schema_says_nothing_of_one(open_page, declared):
    assert "Schema" not in text(open_page("landscape", node="topic:city-revenue"))


def test_a_registry_that_is_away_is_a_sentence_in_the_panel(open_page, seeded):
    port = free_port()
    with seeded.open("a") as file:
        file.write(f'\n[schema_registry]\nurl = "http://127.0.0.1:{port}"\n')
    at = open_page("landscape", node="topic:orders")
    assert not at.exception
    assert "does not respond" in text(at)
