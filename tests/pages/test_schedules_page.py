"""The Schedules page: what is scheduled, what came of it, and that a name is needed to pause it."""

from __future__ import annotations

from contextlib import closing

import pytest

from headgate.store import open_store
from headgate.ui.shared.keys import SchedulesKey
from headgate.usecases.context import open_context
from support.schedule_seed import add_schedules

pytestmark = pytest.mark.slow


@pytest.fixture
def store(seeded):
    with closing(open_store(open_context(str(seeded)).store_url)) as opened:
        yield opened


def text(at):
    return " ".join(element.proto.body for element in at.get("html"))


def test_without_schedules_it_says_what_to_do(open_page, seeded):
    assert "No schedules yet" in text(open_page("schedules"))


def test_it_lists_each_schedule_with_its_newest_tick(open_page, store):
    add_schedules(store)
    at = open_page("schedules")
    assert not at.exception
    assert "3 schedules, 1 paused" in text(at)
    listed, ticks = (frame.value for frame in at.dataframe)
    assert list(listed["Pipeline"]) == ["billing", "city-alerts", "orders-by-city"]
    assert list(listed["State"]) == ["waits for approval", "active", "paused"]
    assert list(listed["When"]) == [
        "every 15 minutes",
        "when lag exceeds 10\u202f000 records",
        "cron 0 3 * * 1-5 (UTC)",
    ]
    assert list(listed["Next tick (UTC)"])[1:] == ["when the condition is met", "paused"]
    assert [o.split(" ", 1)[1] for o in ticks["Outcome"]] == [
        "waits for approval",
        "skipped",
        "done",
        "skipped",
        "done",
    ]
    assert ticks["Reason"][1] == (
        "no worker was running at the scheduled time; includes 2 missed ticks"
    )
    said = text(at)
    assert "The newest tick waits for approval" in said
    assert "bob" in said and "10 minutes" in said


def test_who_pauses_it_gives_a_name(open_page, store):
    add_schedules(store)
    at = open_page("schedules", schedule="city-alerts")
    assert at.button(key=SchedulesKey.PAUSE).disabled
    at.text_input(key=SchedulesKey.NAME).set_value("dan").run()
    at.button(key=SchedulesKey.PAUSE).click().run()
    assert not at.exception
    found = store.schedules.get("city-alerts")
    assert found.paused_by == "dan (entered in the console, not verified)"
    (entry,) = [e for e in store.audit.list() if e.by == found.paused_by]
    assert (entry.action, entry.pipeline) == ("pause schedule", "city-alerts")
    at.button(key=SchedulesKey.RESUME).click().run()
    assert not at.exception
    assert store.schedules.get("city-alerts").paused_at is None


def test_an_address_without_a_schedule_says_so(open_page, store):
    add_schedules(store)
    assert "has no schedule" in text(open_page("schedules", schedule="other"))
