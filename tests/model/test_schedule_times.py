"""When schedules are due: grids of cron and of `every`, in UTC, whenever one looks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.model.schedule_times import MOST_TICKS, cron_problem, due_ticks, next_tick
from headgate.model.schedules import Schedule, span_words

START = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
HOURLY = Schedule(pipeline="p", cron="0 * * * *")
# The nights in which European and American clocks change, and the end of February.
NIGHTS = [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC),
          datetime(2026, 3, 8, tzinfo=UTC), datetime(2028, 2, 29, tzinfo=UTC)]  # fmt: skip
SCHEDULES = st.one_of(
    st.integers(1, 100_000).map(lambda s: Schedule(pipeline="p", every=s)),
    st.sampled_from(["* * * * *", "*/7 * * * *", "0 3 * * *", "30 2 * * 0", "15 1-4 29 2 *",
                     "0 0 1,15 * 5"]).map(lambda c: Schedule(pipeline="p", cron=c)),
)  # fmt: skip
TIMES = st.integers(0, 400_000_000).map(lambda ms: START + timedelta(milliseconds=ms))


@pytest.mark.parametrize("night", NIGHTS, ids=str)
def test_an_hour_is_an_hour_in_every_night(night):
    found = due_ticks(HOURLY, night, night, night + timedelta(days=1))
    assert found == tuple(night + timedelta(hours=n) for n in range(1, 25))
    daily = Schedule(pipeline="p", cron="30 2 * * *")
    assert due_ticks(daily, night, night, night + timedelta(days=2)) == (
        night + timedelta(hours=2.5),
        night + timedelta(hours=26.5),
    )


def test_a_tick_is_due_at_its_time_and_not_before():
    at = START + timedelta(hours=1)
    assert due_ticks(HOURLY, START, START, at - timedelta(milliseconds=1)) == ()
    assert due_ticks(HOURLY, START, START, at) == (at,)
    assert due_ticks(HOURLY, START, at, at + timedelta(minutes=59)) == ()
    assert next_tick(HOURLY, START, at) == at + timedelta(hours=1)


def test_every_counts_from_the_start_of_the_schedule():
    every = Schedule(pipeline="p", every=90)
    assert next_tick(every, START, START - timedelta(days=1)) == START + timedelta(seconds=90)
    assert due_ticks(every, START, START, START + timedelta(seconds=270)) == tuple(
        START + timedelta(seconds=90 * n) for n in (1, 2, 3)
    )


@pytest.mark.slow
@given(SCHEDULES, st.lists(TIMES, min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_however_often_one_looks_each_tick_is_found_once(schedule, looks):
    """Looks at any times find, together, what one look at the last of them finds."""
    looks = sorted(looks)
    found, after = [], START
    for until in looks:
        found += due_ticks(schedule, START, after, until)
        # A worker continues from the newest tick that it has recorded.
        after = found[-1] if found else START
    once = due_ticks(schedule, START, START, looks[-1])
    assert tuple(found[-len(once) :] if once else found) == once
    if len(once) < MOST_TICKS:
        assert len(found) == len(once)
    assert len(set(found)) == len(found) and found == sorted(found)
    assert all(START < tick <= looks[-1] for tick in found)
    if once:
        assert next_tick(schedule, START, once[-1]) > looks[-1] or once[-1] == looks[-1]
        if len(once) > 1:
            assert next_tick(schedule, START, once[-2]) == once[-1]


def test_a_worker_that_was_down_for_a_year_counts_the_newest_only():
    minutely = Schedule(pipeline="p", cron="* * * * *")
    until = START + timedelta(days=365)
    found = due_ticks(minutely, START, START, until)
    assert (len(found), found[-1]) == (MOST_TICKS, until)
    every = due_ticks(Schedule(pipeline="p", every=60), START, START, until)
    assert every == found


def test_data_decide_without_a_clock():
    lag = Schedule(pipeline="p", lag=0)
    assert not lag.is_timed
    assert next_tick(lag, START, START) is None
    assert due_ticks(lag, START, START, START + timedelta(days=1)) == ()


@pytest.mark.parametrize("text", ["0 * * * *", "*/5 8-18 * * 1-5", "0 0 29 2 *", "5 4 * * sun",
                                  "0 0 1 mar,apr thu,fri"])  # fmt: skip
def test_cron_expressions_that_are_understood(text):
    assert cron_problem(text) is None


@pytest.mark.parametrize(
    "text", ["", "@daily", "* * * *", "* * * * * *", "61 * * * *", "0 0 30 2 *", "a b c d e"]
)
def test_cron_expressions_that_are_not(text):
    assert cron_problem(text)


@pytest.mark.parametrize(
    "text",
    ["R * * * *", "r(0-9) * * * *", "R/5 * * * *", "0 R * * *", "0 0 * * R", "H * * * *",
     "0 H(1-4) * * *", "h/9 * * * *", "0 0 * * mon,R"],
)  # fmt: skip
def test_cron_expressions_that_are_random_are_refused(text):
    assert "aren't supported" in cron_problem(text)


def test_durations_in_words():
    words = {1: "1 second", 90: "90 seconds", 900: "15 minutes", 3600: "1 hour", 172800: "2 days"}
    assert {s: span_words(s) for s in words} == words
