"""The landscape's page as `AppTest` sees it: every view, every part of its address."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from headgate.landscape.consumers import Consumer
from headgate.landscape.landscape import Landscape, PartitionLag
from headgate.ui.landscape import consumers
from headgate.ui.shared.keys import LandscapeKey
from pages.test_pages import text
from support.many_pipelines import write
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]


@pytest.fixture
def open_link(seeded):
    """Open the landscape by its address: it is the page that the console begins with."""

    def run(**params):
        st.cache_data.clear()
        at = AppTest.from_file(str(ROOT / "console.py"), default_timeout=PATIENCE)
        for key, value in params.items():
            at.query_params[key] = value
        return at.run()

    return run


def test_a_selector_in_the_address_narrows_the_map(open_link):
    at = open_link(select="owner:growth")
    assert not at.exception
    said = text(at)
    assert "city-alerts" in buttons(at)
    assert "orders-by-city" not in buttons(at)
    assert "position" not in said


def buttons(at):
    return {b.label.replace("\\", "") for b in at.button}


def test_a_wrong_selector_says_where_and_shows_everything(open_link):
    at = open_link(select="ordres")
    assert not at.exception
    said = text(at)
    assert "position 1" in said
    assert "Similar names: orders" in said
    assert "orders-by-city" in buttons(at)


def test_what_lies_downstream_names_whom_to_tell(open_page, seeded):
    at = open_page("landscape", node="topic:city-revenue", trace="downstream")
    assert not at.exception
    said = text(at)
    assert "Downstream impact" in said
    assert "growth" in said
    assert "finance" in said


def test_a_way_is_told_stop_by_stop(open_page, seeded):
    at = open_page(
        "landscape", level="pipelines", node="topic:orders", trace="path",
        to="topic:city-revenue-v2",
    )  # fmt: skip
    assert "This is the only path." in text(at)
    assert "orders-by-city (pipeline)" in buttons(at)
    back = open_page(
        "landscape", node="topic:city-revenue-v2", trace="path", to="topic:orders"
    )  # fmt: skip
    assert "to this node:" in text(back)


def test_a_wrong_address_falls_back(open_page, seeded):
    at = open_page(
        "landscape", view="nope", level="nope", node="nope", trace="nope", to="nope", open="nope",
        reader="nope",
    )  # fmt: skip
    assert not at.exception
    assert "Select a node to show its details" in text(at)
    at = open_page("landscape", node="topic:orders", trace="path", to="topic:nope")
    assert not at.exception
    (said,) = (w.value for w in at.warning)
    assert said == "Destination topic:nope not found. Choose another destination."


def test_consumers_show_spark_queries_beside_groups(open_page, seeded):
    at = open_page("landscape", view="consumers", reader="orders-by-city orders")
    assert not at.exception
    table = at.dataframe[0].value
    rows = dict(zip(table["Consumer"] + " " + table["Topic"], table["Kind"], strict=True))
    assert rows["orders-by-city orders"] == "Spark query"
    assert rows["billing city-revenue"] == "Consumer group"
    assert "Spark commits no offsets to Kafka" in text(at)


@pytest.mark.parametrize(
    ("lag", "said"), [(0, "No consumer has unread records."), (None, "has a known lag.")]
)
def test_without_a_lag_the_overview_says_which_of_both_it_means(lag, said, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    begun = None if lag is None else 5
    positions = (PartitionLag(topic="orders", partition=0, position=begun, begin=0, end=5),)
    consumer = Consumer(
        name="billing", kind="consumer-group", topic="orders", node="g", positions=positions
    )
    landscape = Landscape(at="2026-11-27T10:00:00Z")
    consumers._overview(landscape, [consumer])
    assert said in shown[-1]


def test_unused_resources_are_listed(open_page, seeded):
    at = open_page("landscape", view="unused resources")
    assert not at.exception
    tables = [d.value for d in at.dataframe]
    assert any("city-revenue-v2" in set(t["Topic"]) for t in tables if "Topic" in t)
    assert "Headgate has not read the Kafka cluster state" in text(at)


@pytest.mark.parametrize("page", ["landscape", "topology"])
def test_every_format_can_be_downloaded(page, open_page, seeded):
    at = open_page(page)
    names = {b.label for b in at.get("download_button")}
    assert names >= {"SVG", "PNG", "Mermaid", "Graphviz DOT", "GraphML", "JSON"}


def test_a_large_landscape_opens_closed_and_one_pipeline_can_be_opened(
    open_page, tmp_path, monkeypatch
):
    monkeypatch.setenv("HEADGATE_CONFIG", str(write(tmp_path, pipelines=120, topics=400)))
    at = open_page("landscape", level="internals")
    assert not at.exception
    assert "The graph has too many nodes" in text(at)
    at = open_page("landscape", node="pipeline:pipeline-7")
    at.button(key="landscape_internals").click().run()
    assert at.query_params[LandscapeKey.OPENED] in ("pipeline-7", ["pipeline-7"])
