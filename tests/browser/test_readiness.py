"""The readiness of a version beside its graph, as its users see it."""

from __future__ import annotations

import pytest

from browser.conftest import LARGE, SMALL
from support.sampled import sampled

pytestmark = pytest.mark.browser


@sampled("scheme, size", [("light", SMALL), ("dark", LARGE)], one_in=2)
def test_a_finding_leads_to_its_node_and_back(scheme, size, visit, shoot):
    page = visit("topology?pipeline=orders-by-city&version=1", scheme=scheme, size=size)
    page.locator(".graph .node").first.wait_for()
    panel = page.locator(".st-key-details")
    panel.get_by_text("Risks of the next upgrade").wait_for()
    signs = panel.locator(".st-key-findings .hg-finding i")
    signs.first.wait_for()
    signs = signs.all_inner_texts()
    assert signs and signs == sorted(signs, key="!▲·".index)
    shoot(page, f"topology-readiness-{scheme}-{size[0]}")
    panel.get_by_role("button").filter(has_text="join payments").click()
    page.locator(".graph .node.selected[data-id='stream_join-paid']").wait_for()
    page.locator(".st-key-details .hg-status").first.wait_for()
    page.get_by_text("Source").first.wait_for()
    shoot(page, f"topology-readiness-finding-{scheme}-{size[0]}")
    page.get_by_role("button", name="All findings").click()
    page.locator(".graph .node.selected").wait_for(state="detached")
    panel.get_by_text("Risks of the next upgrade").wait_for()
