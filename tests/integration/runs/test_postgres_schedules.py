"""Schedules in a real PostgreSQL: workers that race for a tick make one run of it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from headgate.model.schedules import Schedule, TickState
from headgate.store import open_store
from headgate.store.rows import NewRequest, NewRun, RunState
from support.postgres_server import running_postgres
from support.waiting import PATIENCE

# It starts a server of its own, as the tests beside it do.
pytestmark = pytest.mark.kafka
WORKERS = 6


@pytest.fixture(scope="module")
def postgres():
    with running_postgres() as server:
        yield server


@pytest.fixture
def stores(postgres):
    url = postgres.database()
    made = [open_store(url) for _ in range(WORKERS)]
    yield made
    for store in made:
        store.close()


def new(resource, scenario="bounded"):
    return NewRun(
        scenario=scenario, pipeline="billing", plan_hash="h", plan="{}", resources=(resource,)
    )


def at(minute):
    return f"2099-01-01T00:{minute:02}:00.000+00:00"


def test_workers_that_race_count_and_decide_each_tick_once(stores):
    store, barrier = stores[0], Barrier(WORKERS)
    run = store.runs.enqueue(new("schedule:billing", "incremental"), by="ann", action="apply")
    store.schedules.put(Schedule(pipeline="billing", every=60), run)
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.DONE)
    known = store.schedules.get("billing")

    def decide(number):
        mine = stores[number]
        for minute in range(1, 6):
            barrier.wait(PATIENCE)
            mine.schedules.count(known, [at(minute)])
            barrier.wait(PATIENCE)
            for tick in mine.schedules.waiting("billing"):
                made = mine.schedules.queue(known, tick, new(f"r{number}"), records=1)
                if made is not None:
                    mine.runs.claim("slot-0")
                    mine.runs.finish(made, RunState.DONE)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(decide, range(WORKERS)))
    ticks = store.schedules.ticks("billing")
    assert [(t.due_at, t.state) for t in ticks] == [
        (at(minute), TickState.QUEUED) for minute in (5, 4, 3, 2, 1)
    ]
    runs = store.runs.list()
    assert len(runs) == 6 and len({t.run for t in ticks}) == 5


def test_what_the_store_does_it_does_there_too(stores, monkeypatch):
    monkeypatch.setattr("headgate.store.schedules.MOST_KEPT", 3)
    store = stores[0]
    store.schedules.put(Schedule(pipeline="billing", every=60), "r1")
    known = store.schedules.get("billing")
    for minute in range(1, 8):
        store.schedules.count(known, [at(minute)])
        (tick,) = store.schedules.waiting("billing")
        store.schedules.skip(tick, "nothing unread", records=0)
    store.schedules.count(known, [at(9)])
    (tick,) = store.schedules.waiting("billing")
    asked = NewRequest(
        scenario="bounded", pipeline="billing", reason="many", plan_hash="h", plan="{}"
    )
    request = store.schedules.request(known, tick, asked, records=10**12)
    assert store.schedules.open_request("billing") == request
    ticks = store.schedules.ticks("billing")
    assert [t.due_at for t in ticks] == [at(9), at(7), at(6)]
    assert ticks[0].records == 10**12
    store.schedules.pause("billing", by="ann")
    assert stores[1].schedules.get("billing").paused_by == "ann"
    store.schedules.resume("billing", by="ann")
    store.schedules.restore("billing", None)
    assert stores[1].schedules.all() == ()
