"""The console as its users see it: look, click, type, both themes."""

from __future__ import annotations

import re

import pytest

from browser.conftest import LOOKS, SMALL, settle
from headgate.parse.evidence.version_file import dump
from support.console_seed import alerts
from support.sampled import sampled
from support.waiting import until

pytestmark = pytest.mark.browser

PAGES = {
    "landscape": "",
    "topology": "topology?pipeline=orders-by-city&version=1&node=aggregate-city",
    "compare": "compare?pipeline=orders-by-city",
    "outputs": "compare_output?a=out/v1&b=kafka:totals&keys=id",
    "reprocess": "reprocess",
    "requests": "requests",
    "runs": "runs",
    "schedules": "schedules",
}


def node(page, node_id):
    return page.locator(f'.graph .node[data-id="{node_id}"]')


def selected(page):
    return page.locator(".graph .node.selected")


def ready(page):
    page.locator(".graph .node").first.wait_for()
    settle(page)


@sampled("name, scheme, size", PAGES, LOOKS, one_in=7)
def test_a_page_looks_right(name, scheme, size, visit, shoot):
    page = visit(PAGES[name], scheme=scheme, size=size)
    if name in ("landscape", "topology", "compare"):
        ready(page)
        fits_the_window(page)
        labels_fit_their_nodes(page)
    else:
        page.locator(".hg-head").wait_for()
        page.locator(".hg-empty, .hg-verdict, [class*=st-key-scenario_card_]").first.wait_for()
    shoot(page, f"{name}-{scheme}-{size[0]}")


def bottom(part):
    """Where an element ends, in pixels of the page."""
    box = part.bounding_box()
    return box["y"] + box["height"]


def fits_the_window(page):
    """The page itself never scrolls: canvas and panel end above the window's edge."""
    graph = page.locator(".graph")
    until(lambda: bottom(graph) <= page.viewport_size["height"], "the graph leaves the window")
    box = graph.bounding_box()
    panel = page.locator(".st-key-details").bounding_box()
    assert panel["height"] == pytest.approx(box["height"], abs=2)
    assert panel["x"] >= box["x"] + box["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def labels_fit_their_nodes(page):
    too_wide = page.evaluate(
        """() => {
          const graph = [...document.querySelectorAll('*')].map((e) => e.shadowRoot)
            .filter(Boolean).map((r) => r.querySelector('.graph')).find(Boolean)
            || document.querySelector('.graph');
          return [...graph.querySelectorAll('.node')].filter((n) => {
            const face = n.querySelector('.face').getBoundingClientRect();
            const label = n.querySelector('.label').getBoundingClientRect();
            return label.right > face.right - 2 || label.left < face.left;
          }).map((n) => n.dataset.id);
        }"""
    )
    assert too_wide == []


def test_the_landscape_opens_with_pipelines_joined_by_a_topic(visit):
    page = visit("")
    ready(page)
    for box in ("orders-by-city/0", "city-alerts/0"):
        assert page.locator(f'.graph .header[data-box="{box}"]').count() == 1
    assert node(page, "topic:city-revenue").count() == 1
    node(page, "topic:city-revenue").click()
    page.get_by_text("Read by").wait_for()
    page.wait_for_url(re.compile("node=topic"))


def test_a_click_on_a_node_shows_its_details_and_leads_on(visit):
    page = visit("topology?pipeline=orders-by-city&version=1")
    ready(page)
    node(page, "aggregate-city").click()
    page.get_by_text("sum(s0.amount)").wait_for()
    assert selected(page).get_attribute("data-id") == "aggregate-city"
    page.locator(".st-key-neighbours").get_by_role("button", name="by window, city").click()
    page.locator(".graph .node.selected[data-id='exchange-city']").wait_for()
    page.wait_for_url(re.compile("node=exchange-city"))
    page.reload()
    page.locator(".graph .node.selected[data-id='exchange-city']").wait_for()


@pytest.mark.long
def test_pan_and_zoom_last_over_a_click(visit):
    page = visit("topology?pipeline=orders-by-city&version=1")
    ready(page)
    page.get_by_label("Zoom in").click()
    settle(page)
    before = page.locator(".graph .world").get_attribute("transform")
    node(page, "stream_join-paid").click()
    page.get_by_text("s0.order_id").first.wait_for()
    assert page.locator(".graph .world").get_attribute("transform") == before


@pytest.mark.long
def test_a_box_closes_and_opens(visit, shoot):
    page = visit("topology?pipeline=orders-by-city&version=1")
    ready(page)
    page.locator('.graph .header[data-box="orders-by-city/0"]').click()
    node(page, "orders-by-city/0").wait_for()
    node(page, "project-orders").wait_for(state="detached")
    shoot(page, "topology-closed")
    node(page, "orders-by-city/0").click()
    node(page, "project-orders").wait_for()


def test_the_keyboard_is_enough(visit):
    page = visit("topology?pipeline=orders-by-city&version=1")
    ready(page)
    node(page, "source-orders").focus()
    page.keyboard.press("Enter")
    page.locator(".graph .node.selected[data-id='source-orders']").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.locator(".graph .node.selected:not([data-id='source-orders'])").wait_for()
    page.keyboard.press("Escape")
    selected(page).wait_for(state="detached")
    name = node(page, "store-city").get_attribute("aria-label")
    assert name == "State store default"


@pytest.mark.long
def test_search_marks_hits(visit, shoot):
    page = visit("topology?pipeline=orders-by-city&version=1")
    ready(page)
    page.get_by_placeholder("Search nodes").fill("watermark")
    until(lambda: page.locator(".graph .node.hit").count() == 2)
    shoot(page, "topology-search")


def test_compare_leads_from_finding_to_node_and_back(visit, shoot):
    page = visit("compare?pipeline=orders-by-city")
    ready(page)
    # Of more than one, Playwright says so.
    page.locator(".hg-verdict").wait_for()
    page.locator(".st-key-finding-0 button").click()
    selected(page).wait_for()
    page.get_by_text("Source").first.wait_for()
    shoot(page, "compare-finding")
    page.get_by_role("button", name="All findings").click()
    selected(page).wait_for(state="detached")


def test_a_finding_explains_its_rule_and_leads_to_its_scenario(visit, shoot):
    page = visit("compare?pipeline=orders-by-city&finding=0&node=aggregate-city", size=SMALL)
    ready(page)
    page.get_by_role("button", name="AGG001").click()
    page.get_by_text("Spark finds a state row by the values of").first.wait_for()
    shoot(page, "compare-rule")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Plan from-scratch").click()
    page.wait_for_url(re.compile("reprocess.*pipeline=orders-by-city.*scenario=from-scratch"))
    page.locator(".hg-verdict").wait_for()


@pytest.mark.long
def test_equal_versions_are_drawn_whole(visit):
    page = visit("compare?pipeline=orders-by-city&before=1&after=1&only_changes=true")
    ready(page)
    page.locator(".hg-verdict", has_text="Both versions are the same.").wait_for()
    until(lambda: page.locator(".graph .node").count() == 17 + 3)


def test_before_and_after_keep_every_node_in_its_place(visit, shoot):
    page = visit("compare?pipeline=orders-by-city")
    ready(page)
    place = node(page, "aggregate-city").get_attribute("transform")
    assert node(page, "filter-valid").count() == 1
    page.get_by_role("button", name="Before", exact=True).or_(
        page.get_by_role("radio", name="Before")
    ).first.click()
    node(page, "filter-valid").wait_for(state="detached")
    settle(page)
    assert node(page, "aggregate-city").get_attribute("transform") == place
    assert node(page, "before:source-customers").count() == 1
    shoot(page, "compare-before")


def test_only_changes_shows_less(visit, shoot):
    page = visit("compare?pipeline=orders-by-city&only_changes=true")
    ready(page)
    assert node(page, "project-payments").count() == 0
    assert node(page, "filter-valid").count() == 1
    shoot(page, "compare-only-changes")


def test_who_wants_less_motion_gets_none(visit):
    page = visit("topology?pipeline=orders-by-city&version=1", reduced_motion="reduce")
    ready(page)
    style = "getComputedStyle(e.querySelector('.face')).transitionDuration"
    assert node(page, "sink").evaluate(f"e => {style}") in ("0s", "1e-05s")


def test_an_upload_becomes_a_version(visit, shoot, tmp_path):
    file = tmp_path / "version.json"
    file.write_bytes(dump(alerts()))
    page = visit("topology?pipeline=city-alerts")
    ready(page)
    page.locator(".st-key-capture_open button").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Files", exact=True).click()
    dialog.locator("input[type=file]").set_input_files(file)
    dialog.get_by_text("version file of Spark").wait_for()
    shoot(page, "topology-upload")
    dialog.locator(".st-key-capture_pipeline input").click()
    page.get_by_role("option", name="billing").click()
    dialog.get_by_role("button", name="Store").click()
    dialog.get_by_text("Stored as version 1 of billing").wait_for()
    dialog.get_by_role("button", name="Show version 1").click()
    page.locator('.graph .header[data-box="billing/0"]').wait_for()
    page.wait_for_url(re.compile("pipeline=billing"))
    node(page, "deduplicate-1").wait_for()


def test_the_navigation_reaches_every_page(visit):
    page = visit("")
    ready(page)
    for name in ("Topology", "Compare", "Reprocess", "Runs", "Landscape"):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.locator(".hg-head h1", has_text=name).wait_for()


def test_a_reset_is_planned_run_watched_and_undone(visit, shoot, worker, registry):
    checkpoint = registry.parent / "ck" / "returns"
    before = sorted(p.relative_to(checkpoint) for p in checkpoint.rglob("*"))
    page = visit("reprocess?pipeline=returns&scenario=from-scratch")
    page.get_by_text("Every step can be undone").wait_for()
    shoot(page, "reprocess-plan")
    page.get_by_role("button", name="Run plan …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("I have read the plan").click()
    shoot(page, "reprocess-confirm")
    dialog.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile("run="))
    page.locator(".hg-pill", has_text=re.compile("queued|running")).wait_for()
    page.locator(".hg-pill", has_text="done").wait_for()
    shoot(page, "reprocess-done")
    assert sorted(p.relative_to(checkpoint) for p in checkpoint.rglob("*")) != before
    page.get_by_role("link", name="Open in Runs").click()
    page.locator(".hg-head h1", has_text="Runs").wait_for()
    page.get_by_role("button", name="Undo run …").click()
    page.get_by_role("dialog").get_by_text("Can run.").wait_for()
    shoot(page, "runs-undo")
    page.get_by_role("dialog").get_by_role("button", name="Start undo").click()
    page.locator(".hg-kind", has_text="Undo of").wait_for()
    page.locator(".hg-pill", has_text="done").wait_for()
    shoot(page, "runs-undone")
    assert sorted(p.relative_to(checkpoint) for p in checkpoint.rglob("*")) == before


@pytest.mark.long
def test_the_first_link_to_a_fresh_server_gets_the_whole_console(fresh_console, visit):
    page = visit("runs", at=fresh_console)
    page.locator(".hg-head h1", has_text="Runs").wait_for()
    page.get_by_role("link", name="Landscape", exact=True).first.wait_for()
    assert page.get_by_role("link", name="app").count() == 0
