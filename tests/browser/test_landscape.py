"""The landscape in a real browser: links, selectors, ways, downloads; and over a real broker."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from browser.conftest import LOOKS
from browser.test_console import bottom, node, ready
from support.many_pipelines import write
from support.sampled import sampled
from support.waiting import until

pytestmark = pytest.mark.browser
BOTH = sampled("scheme, size", LOOKS, one_in=3)


def lit(page):
    """The ids of the nodes that are not dimmed."""
    found = page.locator(".graph .node").evaluate_all(
        "nodes => nodes.filter((n) => getComputedStyle(n).opacity === '1').map((n) => n.dataset.id)"
    )
    return set(found)


def test_a_selector_narrows_the_map_and_stands_in_the_address(visit):
    page = visit("?level=pipelines")
    ready(page)
    box = page.get_by_placeholder("orders+, owner:payments")
    box.fill("+pipeline:orders-by-city")
    box.press("Enter")
    page.wait_for_url(re.compile("select="))
    node(page, "topic:city-alerts").wait_for(state="detached")
    node(page, "topic:payments").wait_for()
    page.reload()
    ready(page)
    assert node(page, "topic:city-alerts").count() == 0
    box = page.get_by_placeholder("orders+, owner:payments")
    box.fill("ownr:sales")
    box.press("Enter")
    page.get_by_text("Similar: owner").wait_for()
    graph = page.locator(".graph")
    until(lambda: bottom(graph) <= page.viewport_size["height"], "the graph leaves the window")


@BOTH
def test_a_way_is_lit_and_the_rest_dimmed(scheme, size, visit, shoot):
    page = visit(
        "?level=pipelines&node=topic:orders&trace=path&to=topic:city-revenue-v2",
        scheme=scheme, size=size,
    )  # fmt: skip
    ready(page)
    page.get_by_text("This is the only path.").wait_for()
    way = {"topic:orders", "pipeline:orders-by-city", "topic:city-revenue-v2"}
    until(lambda: lit(page) == way)
    shoot(page, f"landscape-way-{scheme}-{size[0]}")


def test_what_lies_downstream_is_lit_and_owners_are_named(visit, shoot):
    page = visit("?level=internals")
    ready(page)
    node(page, "topic:city-revenue").click()
    page.get_by_role("radio", name="Down").or_(
        page.get_by_role("button", name="Down", exact=True)
    ).first.click()
    page.get_by_text("Downstream impact").wait_for()
    page.wait_for_url(re.compile("trace=downstream"))
    until(lambda: "topic:city-alerts" in (seen := lit(page)) and "topic:orders" not in seen)
    page.get_by_text("growth").first.wait_for()
    shoot(page, "landscape-downstream")


def test_downloads_are_made_when_they_are_asked_for(visit):
    page = visit("?level=pipelines", accept_downloads=True)
    ready(page)
    page.locator(".st-key-landscape_export_menu button").first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG").click()
    drawn = ElementTree.parse(waiting.value.path()).getroot()
    assert drawn.tag.endswith("svg")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON").click()
    with waiting.value.path().open() as file:
        assert json.load(file)["schema"] == 1


@pytest.mark.kafka
@BOTH
def test_consumers_stand_side_by_side(scheme, size, live, visit, shoot):
    page = visit("?view=consumers&reader=billing%20city-revenue", at=live, scheme=scheme, size=size)
    page.get_by_text("Position source").wait_for()
    page.locator(".js-plotly-plot .bars path").first.wait_for()
    page.get_by_text("committed offsets").first.wait_for()
    page.locator(".st-key-consumers canvas").first.wait_for()
    shoot(page, f"landscape-consumers-{scheme}-{size[0]}")


@pytest.mark.kafka
@pytest.mark.long
def test_a_spark_query_that_lost_records_says_so(live, visit, shoot):
    page = visit("?view=consumers&reader=orders-by-city%20payments", at=live)
    lost = page.get_by_text("Kafka deleted unread records (25 offsets)")
    lost.first.wait_for()
    page.get_by_text("checkpoint", exact=True).first.wait_for()
    page.locator(".js-plotly-plot .legendtext").first.wait_for()
    page.locator(".st-key-consumers canvas").first.wait_for()
    shoot(page, "landscape-consumers-lost")


@pytest.mark.long
@pytest.mark.kafka
def test_who_is_furthest_behind(live, visit, shoot):
    page = visit("?view=consumers", at=live)
    page.locator(".js-plotly-plot .bars path").first.wait_for()
    shoot(page, "landscape-consumers-overview")


@pytest.mark.kafka
@BOTH
def test_unused_resources_are_shown_with_their_size(scheme, size, live, visit, shoot):
    page = visit("?view=unused%20resources", at=live, scheme=scheme, size=size)
    page.get_by_text("Undeclared groups").wait_for()
    page.get_by_text("Total size:").wait_for()
    page.locator(".st-key-loose_groups canvas").first.wait_for()
    shoot(page, f"landscape-unused-{scheme}-{size[0]}")


@pytest.mark.kafka
def test_the_map_over_a_live_cluster(live, visit, shoot):
    page = visit("?level=pipelines&all_topics=true", at=live, accept_downloads=True)
    ready(page)
    node(page, "group:nightly-export").wait_for()
    page.get_by_text("records").first.wait_for()
    shoot(page, "landscape-live")
    # The picture has what the page shows, so also a group that no pipeline declares.
    page.locator(".st-key-landscape_export_menu button").first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG").click()
    assert "nightly-export" in waiting.value.path().read_text()


@pytest.fixture(scope="module")
def crowded(serving, tmp_path_factory):
    """A console over 300 pipelines."""
    yield from serving(write(tmp_path_factory.mktemp("crowd"), pipelines=300, topics=2000))


@pytest.mark.long
def test_a_crowded_map_opens_closed_and_a_selector_narrows_it(crowded, visit, shoot):
    page = visit("?level=pipelines&all_topics=true", at=crowded)
    ready(page)
    assert page.locator(".graph .node").count() <= 150
    shoot(page, "landscape-crowded")
    page.goto(f"{crowded}/?level=pipelines&select=%2Bpipeline-101")
    ready(page)
    node(page, "pipeline:pipeline-101").wait_for()
    until(lambda: page.locator(".graph .node").count() < 30)
