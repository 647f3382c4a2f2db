"""A store with schedules and believable ticks, for tests of the page; nothing here is run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headgate.model.schedules import Missed, Schedule
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import Store
from headgate.store.rows import NewRequest, NewRun, RunState

PLAN = Plan(scenario="bounded", pipeline="billing", steps=(RecordOffsets(group="billing"),))


def _run(pipeline: str, *resources: str, scenario: str = "bounded") -> NewRun:
    return NewRun(
        scenario=scenario,
        pipeline=pipeline,
        plan_hash=PLAN.hash,
        plan=dump_plan(PLAN),
        resources=resources,
    )


def _request(pipeline: str, reason: str) -> NewRequest:
    return NewRequest(
        scenario="bounded",
        pipeline=pipeline,
        reason=reason,
        plan_hash=PLAN.hash,
        plan=dump_plan(PLAN),
    )


def _create(store: Store, schedule: Schedule) -> None:
    request = store.requests.ask(_request(schedule.pipeline, "load each hour"), by="ann")
    new = _run(schedule.pipeline, f"schedule:{schedule.pipeline}", scenario="incremental")
    run = store.requests.approve(request, new, by="bob")
    store.schedules.put(schedule, run)
    _end(store, run)


def _end(store: Store, run: str) -> None:
    store.runs.claim("slot-0")
    store.runs.finish(run, RunState.DONE)


def add_schedules(store: Store) -> None:
    """Add three: one whose newest tick waits for approval, one by lag, one that is paused."""
    at = {"target": None}
    _create(
        store,
        Schedule(
            pipeline="billing",
            every=900,
            missed=Missed.SKIP,
            limit_records=50_000,
            time_limit=600,
            approved=at,
        ),
    )
    target = {"target": "parquet /data/city-alerts"}
    _create(store, Schedule(pipeline="city-alerts", lag=10_000, approved=target))
    _create(store, Schedule(pipeline="orders-by-city", cron="0 3 * * 1-5", approved=target))
    store.schedules.pause("orders-by-city", by="cora")
    _ticks(store)


def _ticks(store: Store) -> None:
    """Give the first one ticks of every kind, the newest one beyond a limit."""
    known = store.schedules.get("billing")
    assert known is not None
    begin = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=15)
    for number, records in enumerate((1_204, 0, 48_310, None, 61_007)):
        at = (begin + timedelta(minutes=15 * number)).isoformat(timespec="milliseconds")
        store.schedules.count(known, [at], missed=2 if records is None else 0)
        (tick,) = store.schedules.waiting("billing")
        if records == 0:
            store.schedules.skip(tick, "no records are unread", records=0)
        elif records is None:
            store.schedules.skip(tick, "no worker was running at the scheduled time")
        elif records > 50_000:
            why = "up to 61 007 records are unread, and the limit is 50 000"
            store.schedules.request(known, tick, _request("billing", why), records=records)
        else:
            run = store.schedules.queue(known, tick, _run("billing", "x"), records=records)
            assert run is not None
            _end(store, run)
