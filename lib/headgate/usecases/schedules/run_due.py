"""Record the ticks of schedules that are due, and decide them: a run, a request, or a skip."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from headgate.errors import HeadgateError, RefusedError, UnreachableError
from headgate.model.schedule_times import due_ticks
from headgate.model.schedules import Missed, StoredSchedule, Tick
from headgate.reprocess.plan import dump_plan
from headgate.store import Store
from headgate.store.clock import now
from headgate.store.rows import ACTIVE_RUNS, NewRequest
from headgate.text.numbers import short_time, up_to
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import shared_words
from headgate.usecases.runs.apply_plan import new_run
from headgate.usecases.schedules.due_by_data import count_by_data
from headgate.usecases.schedules.plan_tick import SCENARIO, TickPlan, plan_tick

# A tick that isn't decided this long after it was due counts as missed.
PUNCTUAL = timedelta(seconds=60)
# How often inputs are looked at; and what did not answer, or another run has, is tried again.
LOOK, RETRY = timedelta(seconds=5), timedelta(seconds=15)
# With `all`, so many ticks wait at most: those before them are part of the oldest.
MOST_RUNS = 100


class Scheduler:
    """Checks all schedules of a store; a worker calls `look` repeatedly.

    Its fields only avoid repeated work: all facts are in the store.
    """

    def __init__(self) -> None:
        self._looked: dict[str, datetime] = {}
        self._tried: dict[str, datetime] = {}

    def look(self, context: Context, store: Store) -> Iterator[str]:
        """Record and decide the ticks that are due; yield a sentence for each change or error."""
        for known in store.schedules.all():
            if known.paused_at is not None:
                continue
            try:
                self._count(context, store, known)
                yield from self._decide(context, store, known)
            except HeadgateError as error:
                yield f"{known.actor}: {error}"

    def _count(self, context: Context, store: Store, known: StoredSchedule) -> None:
        if known.schedule.is_timed:
            count_timed(store, known, now())
        elif _passed(self._looked, known, LOOK):
            self._looked[known.pipeline] = datetime.now(UTC)
            count_by_data(context, store, known, now())

    def _decide(self, context: Context, store: Store, known: StoredSchedule) -> Iterator[str]:
        for tick in store.schedules.waiting(known.pipeline):
            why, waits = _not_now(context, store, known, tick)
            if waits:
                if tick.reason != why:
                    store.schedules.wait(tick, str(why))
                return
            if why is not None:
                store.schedules.skip(tick, why)
                yield _said(known, tick, f"is skipped, because {why}")
                continue
            if not _passed(self._tried, known, RETRY):
                return
            try:
                found = plan_tick(context, store, known)
            except UnreachableError as error:
                self._tried[known.pipeline] = datetime.now(UTC)
                store.schedules.wait(tick, str(error))
                yield _said(known, tick, f"waits, because {error}")
                return
            except HeadgateError as error:
                store.schedules.skip(tick, str(error))
                yield _said(known, tick, f"is skipped, because {error}")
                continue
            if (run := _touching(store, found)) and known.schedule.missed is not Missed.SKIP:
                self._tried[known.pipeline] = datetime.now(UTC)
                shared = shared_words(store, found.plan.resources, run)
                store.schedules.wait(tick, f"run {run} on {shared} is in progress")
                return
            yield from _carry_out(store, known, tick, found)


def _passed(of: dict[str, datetime], known: StoredSchedule, span: timedelta) -> bool:
    last = of.get(known.pipeline)
    return last is None or datetime.now(UTC) - last >= span


def count_timed(store: Store, known: StoredSchedule, at: str) -> None:
    """Record the ticks that are due by time, up to `at` (ISO 8601 in UTC)."""
    anchor = datetime.fromisoformat(known.created_at).replace(microsecond=0)
    after, until = (datetime.fromisoformat(t) for t in (known.counted_to, at))
    due = [_iso(t) for t in due_ticks(known.schedule, anchor, after, until)]
    if due:
        most = MOST_RUNS if known.schedule.missed is Missed.ALL else 1
        store.schedules.count(known, due, most=most)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _not_now(
    context: Context, store: Store, known: StoredSchedule, tick: Tick
) -> tuple[str | None, bool]:
    """Return why a tick can't run now, and whether it waits for that; None if it can."""
    skips = known.schedule.missed is Missed.SKIP
    if context.registry.pipeline(known.pipeline) is None:
        return f"{known.pipeline} is no longer registered in headgate.toml", False
    if active := _active(store, known.pipeline):
        return f"run {active} of {known.pipeline} is in progress", not skips
    late = datetime.now(UTC) - datetime.fromisoformat(tick.due_at)
    if skips and late > PUNCTUAL:
        return tick.reason or "no worker was running at the scheduled time", False
    return None, False


def _active(store: Store, pipeline: str) -> str | None:
    runs = store.runs.list(ACTIVE_RUNS)
    return next((r.id for r in runs if r.pipeline == pipeline), None)


def _touching(store: Store, found: TickPlan) -> str | None:
    """Return an active run, as of another pipeline's chain, that has a resource of the plan."""
    runs = (r for name in found.plan.resources for r in store.runs.touching(name))
    return next((r.id for r in runs if r.state.is_active), None)


def _carry_out(store: Store, known: StoredSchedule, tick: Tick, found: TickPlan) -> Iterator[str]:
    """Queue the run of a tick, or request it, or skip the tick."""
    plan = found.plan
    if not plan.can_apply:
        blocked = f"the plan is blocked: {'; '.join(plan.blockers)}"
        why = blocked if plan.blockers else "there is nothing to do"
        store.schedules.skip(tick, why, records=found.records)
        yield _said(known, tick, f"is skipped: {why}")
    elif found.records == 0:
        store.schedules.skip(tick, "there are no unread records", records=0)
    elif (request := store.schedules.open_request(known.pipeline)) and found.stale is None:
        why = f"request {request} of an earlier tick is still open: approve or decline the request"
        store.schedules.skip(tick, why, records=found.records)
        yield _said(known, tick, f"is skipped, because {why}")
    elif request is not None:
        store.schedules.cancel_request(known, request, f"the plan is stale: {found.stale}")
        yield _said(known, tick, f"replaces request {request}, because {found.stale}")
        yield from _carry_out(store, known, tick, found)
    elif found.exceeds:
        why = "; ".join(found.exceeds)
        request = store.schedules.request(
            known, tick, _request(known, tick, found, why), records=found.records
        )
        if request is not None:
            yield _said(known, tick, f"waits for approval of request {request}, because {why}")
    else:
        try:
            run = store.schedules.queue(known, tick, new_run(plan), records=found.records)
        except RefusedError as error:
            # Something else was queued meanwhile: it is decided at the next look.
            store.schedules.wait(tick, str(error))
            return
        if run is not None:
            unread = "unknown" if found.records is None else up_to(found.records)
            yield _said(known, tick, f"is queued as run {run} (unread records: {unread})")


def _request(known: StoredSchedule, tick: Tick, found: TickPlan, why: str) -> NewRequest:
    return NewRequest(
        scenario=SCENARIO,
        pipeline=known.pipeline,
        reason=f"tick {short_time(tick.due_at)} of the schedule ({known.schedule.when}): {why}",
        plan_hash=found.plan.hash,
        plan=dump_plan(found.plan),
    )


def _said(known: StoredSchedule, tick: Tick, what: str) -> str:
    return f"{known.actor}: tick {short_time(tick.due_at)} {what}"
