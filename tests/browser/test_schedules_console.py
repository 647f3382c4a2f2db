"""The Schedules page in a browser: looked at, paused and resumed."""

from __future__ import annotations

from contextlib import closing

import pytest

from browser.conftest import settle
from headgate.store import open_store
from headgate.usecases.context import open_context
from support.console_seed import seed
from support.schedule_seed import add_schedules

pytestmark = pytest.mark.browser


@pytest.fixture
def scheduled_console(tmp_path, serving):
    file = seed(tmp_path)
    with closing(open_store(open_context(str(file)).store_url)) as store:
        add_schedules(store)
    yield from serving(file)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_a_schedule_is_paused_and_resumed(scheduled_console, visit, shoot, scheme):
    page = visit("schedules", at=scheduled_console, scheme=scheme, size=(1680, 920))
    details = page.locator(".st-key-details")
    details.get_by_text("The newest tick waits for approval").wait_for()
    page.locator(".stDataFrame canvas").nth(1).wait_for()
    settle(page)
    shoot(page, f"schedules-{scheme}")
    details.get_by_role("textbox", name="Your name").fill("ann")
    details.get_by_role("textbox", name="Your name").press("Enter")
    details.get_by_role("button", name="Pause schedule").click()
    details.get_by_role("button", name="Resume schedule").wait_for()
    page.get_by_text("3 schedules, 2 paused").wait_for()
    shoot(page, f"schedules-paused-{scheme}")
    details.get_by_role("button", name="Resume schedule").click()
    page.get_by_text("3 schedules, 1 paused").wait_for()
    page.set_viewport_size({"width": 768, "height": 1024})
    shoot(page, f"schedules-{scheme}-768")
