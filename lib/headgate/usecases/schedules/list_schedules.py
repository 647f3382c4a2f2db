"""List the schedules with their next and newest ticks, and pause or resume one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.model.schedule_times import next_tick
from headgate.model.schedules import StoredSchedule, Tick, TickState
from headgate.store import Store, open_store
from headgate.store.worker_slots import Slot
from headgate.usecases.context import Context

RECENT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TickView:
    """A tick with the state of its run or request: `outcome` is one word.

    It is `waiting`, `skipped`, the state of the request (`open`, `declined`, `cancelled`) or of the
    run.
    """

    tick: Tick
    outcome: str
    run: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the command's JSON."""
        found = {**asdict(self.tick), "run": self.run, "outcome": self.outcome}
        return {k: v for k, v in found.items() if k not in ("pipeline", "state")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleView:
    """A schedule with its ticks, newest first; `next_at` is None if its inputs decide."""

    stored: StoredSchedule
    next_at: str | None
    ticks: tuple[TickView, ...] = ()

    @property
    def last(self) -> TickView | None:
        """The newest tick."""
        return self.ticks[0] if self.ticks else None

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the command's JSON."""
        stored, schedule = self.stored, self.stored.schedule
        return {
            "pipeline": stored.pipeline,
            "when": schedule.when,
            "cron": schedule.cron,
            "every_seconds": schedule.every,
            "lag": schedule.lag,
            "quiet_seconds": schedule.quiet,
            "missed": schedule.missed.value,
            "max_run_records": schedule.limit_records,
            "time_limit_seconds": schedule.time_limit,
            "target": schedule.approved["target"],
            "options": schedule.options,
            "paused": stored.paused_at is not None,
            "paused_at": stored.paused_at,
            "paused_by": stored.paused_by,
            "next_at": self.next_at,
            "created_at": stored.created_at,
            "created_by": stored.created_by,
            "approved_by": stored.approved_by,
            "run": stored.run,
            "ticks": [tick.as_json() for tick in self.ticks],
        }


def list_schedules(
    context: Context, pipeline: str | None = None, *, limit: int = RECENT
) -> tuple[ScheduleView, ...]:
    """Return all schedules, or only that of one pipeline; NotFoundError if it isn't registered."""
    if pipeline is not None:
        context.registered(pipeline)
    with closing(open_store(context.store_url)) as store:
        return tuple(
            _view(store, stored, limit)
            for stored in store.schedules.all()
            if pipeline in (None, stored.pipeline)
        )


def has_worker(context: Context) -> bool:
    """Return whether a worker holds the slot: without a worker, no tick is decided."""
    with closing(open_store(context.store_url)) as store:
        return not Slot(store.database).is_free()


def pause_schedule(context: Context, pipeline: str, *, by: str) -> None:
    """Pause a schedule: it has no ticks until it is resumed. A run in progress continues.

    NotFoundError without a schedule, RefusedError if it is already paused.
    """
    with closing(open_store(context.store_url)) as store:
        store.schedules.pause(pipeline, by=by)


def resume_schedule(context: Context, pipeline: str, *, by: str) -> None:
    """Resume a schedule: it has ticks again. Ticks during the pause don't count as missed."""
    with closing(open_store(context.store_url)) as store:
        store.schedules.resume(pipeline, by=by)


def _view(store: Store, stored: StoredSchedule, limit: int) -> ScheduleView:
    ticks = store.schedules.ticks(stored.pipeline, limit=limit)
    return ScheduleView(
        stored=stored,
        next_at=_next(stored),
        ticks=tuple(_tick_view(store, tick) for tick in ticks),
    )


def _next(stored: StoredSchedule) -> str | None:
    if stored.paused_at is not None:
        return None
    anchor = datetime.fromisoformat(stored.created_at).replace(microsecond=0)
    found = next_tick(stored.schedule, anchor, datetime.fromisoformat(stored.counted_to))
    return found.astimezone(UTC).isoformat(timespec="milliseconds") if found else None


def _tick_view(store: Store, tick: Tick) -> TickView:
    run = tick.run
    if tick.request is not None:
        request = store.requests.get(tick.request)
        run = request.run
        if run is None:
            return TickView(tick=tick, outcome=request.state.value)
    if run is not None:
        return TickView(tick=tick, outcome=store.runs.get(run).state.value, run=run)
    word = TickState.WAITING if tick.state is TickState.WAITING else TickState.SKIPPED
    return TickView(tick=tick, outcome=word.value)
