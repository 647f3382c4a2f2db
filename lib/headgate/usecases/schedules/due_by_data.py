"""Decide from a pipeline's inputs whether its schedule is due: high lag, or no new records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headgate.model.schedules import Inputs, StoredSchedule, Tick, TickState
from headgate.store import Store
from headgate.store.rows import RunState
from headgate.usecases.context import Context
from headgate.usecases.schedules.watch_inputs import (
    Unread,
    compared,
    quiet_seconds,
    read_unread,
    with_tick,
)

# After a tick that came to nothing, the next one is due after that time at the earliest.
AGAIN = timedelta(minutes=10)


def count_by_data(context: Context, store: Store, known: StoredSchedule, at: str) -> None:
    """Read the inputs, and record a tick at the time `at` (ISO 8601 in UTC) if one is due."""
    pipeline = context.registry.pipeline(known.pipeline)
    unread = read_unread(context, store, pipeline) if pipeline is not None else None
    if unread is None:
        return
    inputs = compared(known.inputs, unread.ends, at)
    now = datetime.fromisoformat(at)
    if is_due(known, unread, inputs, now) and _may_tick(store, known, inputs, now):
        store.schedules.count(known, [at])
        inputs = with_tick(inputs)
    if inputs != known.inputs:
        store.schedules.watch(known, inputs)


def is_due(known: StoredSchedule, unread: Unread, inputs: Inputs, now: datetime) -> bool:
    """Return whether the lag exceeds its limit, or no record has arrived for long enough."""
    schedule = known.schedule
    if schedule.lag is not None:
        return unread.records > schedule.lag
    return unread.records > 0 and quiet_seconds(inputs, now) >= (schedule.quiet or 0)


def _may_tick(store: Store, known: StoredSchedule, inputs: Inputs, now: datetime) -> bool:
    """Return whether the newest tick leaves something to do.

    What is left unread by a run that is done, such as transaction markers, doesn't cause a tick
    until records arrive.
    """
    last = next(iter(store.schedules.ticks(known.pipeline, limit=1)), None)
    if last is None or last.due_at < known.created_at:
        return True
    if last.state is TickState.WAITING:
        return False
    ended = _ended(store, last)
    if ended is None:
        return False
    is_done, at = ended
    if is_done:
        return not inputs.ticked
    return now - datetime.fromisoformat(at).astimezone(UTC) >= AGAIN


def _ended(store: Store, tick: Tick) -> tuple[bool, str] | None:
    """Return whether a tick's run is done, and when it or the tick ended; None if it has not.

    A tick with an open request has ended: a later tick replaces the request if it is stale.
    """
    run, at = tick.run, tick.at
    if tick.request is not None:
        request = store.requests.get(tick.request)
        run, at = request.run, request.decided_at or at
    if run is None:
        return False, at
    row = store.runs.get(run)
    if row.state.is_active:
        return None
    return row.state is RunState.DONE, row.ended_at or at
