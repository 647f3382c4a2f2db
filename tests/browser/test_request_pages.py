"""Asking for a plan and deciding on it, as two people do it in a browser."""

from __future__ import annotations

import pytest

from support.console_seed import add_stopped_pipeline, seed
from support.sampled import sampled
from support.waiting import until

pytestmark = pytest.mark.browser


@pytest.fixture
def own_console(tmp_path, serving):
    """A console with a store of its own: what is asked for here shows on no other test's page."""
    file = seed(tmp_path)
    add_stopped_pipeline(file)
    yield from serving(file)


@sampled("scheme", ["light", "dark"], one_in=2)
def test_one_asks_and_another_declines(own_console, visit, shoot, scheme):
    page = visit("reprocess?pipeline=returns", at=own_console, scheme=scheme, size=(1280, 800))
    page.get_by_text("Drop the state and reprocess all records").wait_for()
    shoot(page, f"reprocess-choice-{scheme}")
    page.get_by_role("button", name="From scratch").click()
    page.get_by_text("Every step can be undone").wait_for()
    assert "scenario=from-scratch" in page.url
    shoot(page, f"reprocess-plan-{scheme}")
    page.get_by_role("button", name="Request approval").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Your name").fill("ann")
    dialog.get_by_role("textbox", name="Reason").fill("orders of noon were counted twice")
    dialog.get_by_role("textbox", name="Reason").press("Tab")
    shoot(page, f"request-ask-{scheme}")
    dialog.get_by_role("button", name="Send request", exact=True).click()

    page.get_by_role("heading", name="Requests").wait_for()
    details = page.locator(".st-key-details")
    details.get_by_text("orders of noon were counted twice").first.wait_for()
    details.get_by_text("You made this request: another person must approve it.").wait_for()
    details.get_by_role("textbox", name="Your name").fill("bob")
    details.get_by_role("textbox", name="Your name").press("Enter")
    details.get_by_role("button", name="Approve and run").wait_for()
    details.get_by_role("textbox", name="Reason").fill("not before the weekend")
    details.get_by_role("textbox", name="Reason").press("Enter")
    shoot(page, f"request-open-{scheme}")
    # A tablet shows the request below the table, as wide as the page.
    page.set_viewport_size({"width": 768, "height": 1024})

    def is_below():
        table, box = (page.locator(x).bounding_box() for x in (".stDataFrame", ".st-key-details"))
        return box["y"] >= table["y"] + table["height"] and box["width"] > 700

    until(is_below)
    shoot(page, f"request-{scheme}-768")
    page.set_viewport_size({"width": 1280, "height": 800})
    details.get_by_role("button", name="Decline").click()
    details.get_by_text("declined: not before the weekend").wait_for()
    shoot(page, f"request-declined-{scheme}")
