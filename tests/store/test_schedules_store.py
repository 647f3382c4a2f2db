"""Schedules and ticks in the store: each tick once, its run with it, one schedule a pipeline."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from headgate.errors import NotFoundError, RefusedError
from headgate.model.schedules import Inputs, Missed, Schedule, TickState
from headgate.store import open_store
from headgate.store.rows import NewRequest, RequestState, RunState
from headgate.store.sqlite_reader import open_soonest
from headgate.store.tables import RUNS

pytestmark = pytest.mark.slow

HOURLY = Schedule(pipeline="billing", cron="0 * * * *", approved={"hash": "h"})
REQUEST = NewRequest(
    scenario="bounded", pipeline="billing", reason="too many", plan_hash="h", plan="{}"
)


def at(hour):
    """A time after every schedule's start."""
    return f"2099-01-01T{hour:02}:00:00.000+00:00"


@pytest.fixture
def known(store, new_run):
    """A schedule that ann's run wrote and bob approved."""
    request = store.requests.ask(REQUEST, by="ann")
    run = store.requests.approve(request, new_run("schedule:billing"), by="bob")
    store.schedules.put(HOURLY, run)
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.DONE)
    return store.schedules.get("billing")


def test_it_keeps_who_created_and_approved_it(store, known, url):
    assert (known.created_by, known.approved_by) == ("ann", "bob")
    assert (known.schedule, known.counted_to) == (HOURLY, known.created_at)
    assert store.schedules.all() == (known,)
    assert store.schedules.get("other") is None
    reader = open_soonest(url)
    assert reader.schedules.get("billing") == known
    assert reader.schedules.get("other") is None
    reader.close()
    # Once more, as after a crash, changes nothing.
    store.schedules.put(HOURLY, known.run)
    assert store.schedules.get("billing") == known


def test_a_tick_is_recorded_once_whoever_records_it(store, known, url):
    def record(_):
        other = open_store(url)
        other.schedules.count(known, [at(1), at(2)], most=9)
        other.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(record, range(12)))
    assert [t.due_at for t in store.schedules.waiting("billing")] == [at(1), at(2)]
    assert store.schedules.get("billing").counted_to == at(2)


def test_ticks_that_wait_are_one_tick(store, known):
    store.schedules.count(known, [at(1)])
    store.schedules.count(known, [at(2), at(3)])
    store.schedules.count(known, [at(3)])
    (tick,) = store.schedules.waiting("billing")
    assert (tick.due_at, tick.missed) == (at(3), 2)


def test_a_queued_tick_has_its_run_and_no_second_one(store, known, new_run, url):
    store.schedules.count(known, [at(1)])
    (tick,) = store.schedules.waiting("billing")
    assert store.schedules.queue(known, tick, new_run(), records=5) is not None
    # Another worker, which has read the tick before.
    assert store.schedules.queue(known, tick, new_run("other"), records=5) is None
    assert store.schedules.request(known, tick, REQUEST, records=5) is None
    store.schedules.skip(tick, "late")
    (one,) = store.schedules.ticks("billing")
    assert (one.state, one.records, one.reason) == (TickState.QUEUED, 5, None)
    assert len(store.runs.list()) == 2
    (entry,) = store.audit.list(one.run)
    assert (entry.by, entry.action) == ("schedule of billing", "apply")
    assert entry.details == {
        "tick": at(1),
        "schedule_run": known.run,
        "created_by": "ann",
        "approved_by": "bob",
    }


def test_workers_that_race_queue_one_run(store, known, new_run, url):
    store.schedules.count(known, [at(1)])
    (tick,) = store.schedules.waiting("billing")

    def queue(number):
        other = open_store(url)
        try:
            return other.schedules.queue(known, tick, new_run(f"r{number}"), records=1)
        finally:
            other.close()

    with ThreadPoolExecutor(6) as pool:
        made = [run for run in pool.map(queue, range(12)) if run]
    assert [t.run for t in store.schedules.ticks("billing")] == made
    assert len(store.runs.list()) == 2


def test_a_busy_resource_leaves_the_tick_waiting(store, known, new_run):
    run = store.runs.enqueue(new_run("group:billing"), by="ann", action="apply")
    store.schedules.count(known, [at(1)])
    (tick,) = store.schedules.waiting("billing")
    with pytest.raises(RefusedError, match=f"{run} is queued and uses pipeline billing"):
        store.schedules.queue(known, tick, new_run("other"), records=1)
    with store.database.writing() as connection:
        connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(pipeline="other"))
    with pytest.raises(RefusedError, match=f"{run} is queued and uses group billing"):
        store.schedules.queue(known, tick, new_run("group:billing"), records=1)
    assert store.schedules.waiting("billing") == (tick,)
    store.schedules.wait(tick, "busy")
    assert store.schedules.waiting("billing")[0].reason == "busy"


def test_a_request_is_its_creators_and_somebody_else_approves_it(store, known, new_run):
    store.schedules.count(known, [at(1)])
    (tick,) = store.schedules.waiting("billing")
    request = store.schedules.request(known, tick, REQUEST, records=9)
    assert store.schedules.open_request("billing") == request
    row = store.requests.get(request)
    assert (row.asked_by, row.state, row.reason) == ("ann", RequestState.OPEN, "too many")
    (entry,) = store.audit.list(request=request)
    assert (entry.by, entry.action) == ("schedule of billing", "request")
    with pytest.raises(RefusedError, match="another person"):
        store.requests.approve(request, new_run(), by="ann")
    store.requests.approve(request, new_run(), by="cora")
    assert store.schedules.open_request("billing") is None


def test_a_paused_schedule_has_no_ticks_and_misses_none(store, known, new_run):
    store.schedules.count(known, [at(1)])
    (tick,) = store.schedules.waiting("billing")
    store.schedules.pause("billing", by="cora")
    (skipped,) = store.schedules.ticks("billing")
    assert (skipped.state, skipped.reason) == (TickState.SKIPPED, "cora paused the schedule")
    store.schedules.count(known, [at(2)])
    assert store.schedules.waiting("billing") == ()
    assert store.schedules.queue(known, tick, new_run(), records=1) is None
    with pytest.raises(RefusedError, match="already paused by cora"):
        store.schedules.pause("billing", by="ann")
    store.schedules.resume("billing", by="ann")
    again = store.schedules.get("billing")
    assert (again.paused_at, again.paused_by) == (None, None)
    assert again.counted_to > known.counted_to
    with pytest.raises(RefusedError, match="already active"):
        store.schedules.resume("billing", by="ann")
    words = [(e.by, e.action) for e in store.audit.list() if "schedule" in e.action]
    assert words == [("cora", "pause schedule"), ("ann", "resume schedule")]
    with pytest.raises(NotFoundError, match="other has no schedule"):
        store.schedules.pause("other", by="ann")


def test_another_schedule_replaces_it_and_an_undo_restores_it(store, known, new_run):
    store.schedules.count(known, [at(1)])
    run = store.runs.enqueue(new_run("x"), by="cora", action="apply")
    other = Schedule(pipeline="billing", every=60, missed=Missed.ALL)
    store.schedules.put(other, run)
    assert store.schedules.waiting("billing") == ()
    now = store.schedules.get("billing")
    assert (now.schedule, now.created_by, now.approved_by) == (other, "cora", None)
    # A worker that still knows the old one records nothing.
    store.schedules.count(known, [at(2)])
    store.schedules.watch(known, Inputs(ends={}, since=at(1)))
    assert store.schedules.waiting("billing") == ()
    assert store.schedules.get("billing") == now
    for _ in range(2):
        store.schedules.restore("billing", known)
        back = store.schedules.get("billing")
        assert (back.schedule, back.run, back.approved_by) == (HOURLY, known.run, "bob")
        assert back.counted_to > known.counted_to
    for _ in range(2):
        store.schedules.restore("billing", None)
        assert store.schedules.all() == ()


def test_old_ticks_go(store, known, monkeypatch):
    monkeypatch.setattr("headgate.store.schedules.MOST_KEPT", 3)
    for hour in range(8):
        store.schedules.count(known, [at(hour)])
        (tick,) = store.schedules.waiting("billing")
        store.schedules.skip(tick, "nothing unread", records=0)
    store.schedules.count(known, [at(9)])
    assert [t.due_at for t in store.schedules.ticks("billing")] == [at(9), at(7), at(6)]


def test_the_tick_of_an_open_request_stays(store, known, new_run, monkeypatch):
    monkeypatch.setattr("headgate.store.schedules.MOST_KEPT", 3)
    store.schedules.count(known, [at(0)])
    (tick,) = store.schedules.waiting("billing")
    request = store.schedules.request(known, tick, REQUEST, records=9)
    for hour in range(1, 8):
        store.schedules.count(known, [at(hour)])
        (tick,) = store.schedules.waiting("billing")
        store.schedules.skip(tick, f"request {request} is still open")
    assert store.schedules.open_request("billing") == request
    assert [t.due_at for t in store.schedules.ticks("billing")] == [at(7), at(6), at(5), at(0)]
    store.requests.decline(request, by="cora", reason="no")
    store.schedules.count(known, [at(8)])
    assert [t.due_at for t in store.schedules.ticks("billing")] == [at(8), at(7), at(6)]


def test_waiting_ticks_do_not_pile_up(store, known):
    for hour in range(1, 9):
        store.schedules.count(known, [at(hour)], most=3)
    waiting = store.schedules.waiting("billing")
    assert [(t.due_at, t.missed) for t in waiting] == [(at(6), 5), (at(7), 0), (at(8), 0)]
