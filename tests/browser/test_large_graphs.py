"""Graphs and landscapes of many nodes: what opens, what a click sends, what fits the window."""

from __future__ import annotations

import pytest

from browser.conftest import _serve, settle
from browser.test_console import node, ready
from support import many_nodes
from support.many_pipelines import write
from support.sampled import sampled
from support.waiting import until

pytestmark = pytest.mark.browser
SIZES = [(820, 1180), (1440, 900), (1680, 920)]
MOST_BYTES = 40_000
"""What a click may send: the panel, and no graph (a thousand nodes take 400 KB)."""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A console over a graph of a thousand nodes."""
    yield from _serve(many_nodes.write(tmp_path_factory.mktemp("large"), {"large": 1000}))


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A console over 300 pipelines of eight owners."""
    yield from _serve(write(tmp_path_factory.mktemp("crowd"), pipelines=300, topics=312))


def in_view(page):
    """Whether all of the picture lies in the canvas."""
    return page.locator(".graph .canvas").evaluate(
        """(canvas) => {
          const all = canvas.querySelector(".world").getBoundingClientRect();
          const room = canvas.getBoundingClientRect();
          return all.left >= room.left - 1 && all.right <= room.right + 1
            && all.top >= room.top - 1 && all.bottom <= room.bottom + 1;
        }"""
    )


def test_a_large_graph_opens_closed_and_a_click_sends_no_graph(large, visit, shoot):
    page = visit("topology?pipeline=large", at=large)
    ready(page)
    assert page.locator(".graph .node").count() <= 150
    until(lambda: in_view(page))
    shoot(page, "large-closed")
    node(page, "large/7").dispatch_event("focus")
    node(page, "large/7").press("Enter")
    node(page, "total-7").wait_for()
    settle(page)
    label = node(page, "total-7").locator(".face").bounding_box()
    assert label["height"] > 34 * 0.3
    world = page.locator(".graph .world").element_handle()
    page.context.new_cdp_session(page)
    marks = {"bytes": 0}
    page.evaluate("window.drawn = 0")
    world.evaluate(
        "(w) => new MutationObserver(() => window.drawn++).observe(w, {childList: true})"
    )
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def received(event):
        marks["bytes"] += len(event["response"]["payloadData"])

    session.on("Network.webSocketFrameReceived", received)
    node(page, "total-7").click()
    page.locator(".st-key-details .hg-name", has_text="total 7").wait_for()
    settle(page)
    assert 0 < marks["bytes"] < MOST_BYTES
    assert page.evaluate("window.drawn") == 0


def test_a_search_opens_what_it_finds(large, visit, shoot):
    page = visit("topology?pipeline=large&q=total%20117", at=large)
    ready(page)
    page.locator(".graph .node.hit[data-id='total-117']").wait_for()
    settle(page)
    assert page.locator(".graph .node").count() <= 150
    shoot(page, "large-search")


def test_a_link_to_a_node_opens_its_box_and_a_neighbour_another(large, visit):
    page = visit("topology?pipeline=large&node=total-3", at=large)
    page.locator(".graph .node.selected[data-id='total-3']").wait_for()
    page.locator(".st-key-neighbours").get_by_role("button", name="by key 11").click()
    page.locator(".graph .node.selected[data-id='by-11']").wait_for()
    until(lambda: in_canvas(page, "by-11"))


def in_canvas(page, node_id):
    settle(page)
    box = node(page, node_id).locator(".face").bounding_box()
    room = page.locator(".graph .canvas").bounding_box()
    return (
        room["x"] <= box["x"]
        and box["x"] + box["width"] <= room["x"] + room["width"]
        and (room["y"] <= box["y"] and box["y"] + box["height"] <= room["y"] + room["height"])
    )


@pytest.mark.long
def test_what_changed_stays_in_view_on_either_side(large, visit):
    page = visit("compare?pipeline=large", at=large)
    ready(page)
    changed = "total-124"
    until(lambda: in_canvas(page, changed))
    for side in ("Before", "After", "Both"):
        page.get_by_role("radio", name=side).or_(
            page.get_by_role("button", name=side, exact=True)
        ).first.click()
        settle(page)
        until(lambda: in_canvas(page, changed))


@pytest.mark.long
def test_a_landscape_of_300_pipelines_opens_by_owner(crowded, visit, shoot):
    page = visit("", at=crowded)
    ready(page)
    assert page.locator(".graph .node").count() == 8
    until(lambda: in_view(page))
    shoot(page, "landscape-by-owner")
    node(page, "owner:risk").click()
    node(page, "pipeline:pipeline-5").wait_for()
    shoot(page, "landscape-owner-opened")


@pytest.mark.long
def test_selectors_that_match_nothing_say_so(crowded, visit):
    page = visit("?select=owner%3Arisk%2Cowner%3Asales", at=crowded)
    page.get_by_text("No node matches.").wait_for()


@sampled("path, size", ["", "topology", "compare?pipeline=orders-by-city"], SIZES, one_in=5)
def test_nothing_lies_on_top_of_anything(path, size, visit, shoot):
    page = visit(path, size=size)
    ready(page)
    settle(page)
    found = page.evaluate(
        """() => {
          const boxes = [".hg-head h1", ".stSelectbox", ".stButtonGroup", ".stTextInput",
            ".stCheckbox", ".stPopover", ".hg-verdict", ".graph", ".st-key-details"]
            .flatMap((s) => [...document.querySelectorAll(s)]
              .filter((e) => s === ".st-key-details" || !e.closest(".st-key-details"))
              .map((e) => [s, e.getBoundingClientRect()]))
            .filter(([, b]) => b.width && b.height);
          const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
          return boxes.flatMap(([s, a], i) => boxes.slice(i + 1).filter(([, b]) => over(a, b))
            .map(([t]) => `${s} ${t}`));
        }"""
    )  # fmt: skip
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    graph = page.locator(".graph .canvas").bounding_box()
    for part in (".graph .legend", ".graph .zoom"):
        assert page.locator(part).bounding_box()["y"] >= graph["y"] + graph["height"]
    shoot(page, f"{path.partition('?')[0] or 'landscape'}-{size[0]}")
