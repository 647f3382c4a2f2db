"""Schedules of bounded runs, and the outcomes of their ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.errors import NotFoundError, RefusedError
from headgate.model.schedules import Inputs, Schedule, StoredSchedule, Tick, TickState
from headgate.store.audit import write_audit
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.queueing import ACTIVE, busy
from headgate.store.requests import cancel_request, insert_request
from headgate.store.rows import NewRequest, NewRun, RequestState
from headgate.store.runs import insert_run
from headgate.store.tables import REQUESTS, RUNS, SCHEDULE_TICKS, SCHEDULES

# Of a schedule's ticks, the oldest that are decided are removed.
MOST_KEPT = 500


class Schedules:
    """A row here means that a run wrote the schedule, and that no undo has removed it.

    A pipeline has at most one. A tick's row is written once, in the transaction that counts it; its
    run or request is written in the transaction that decides it. So a worker that is killed in
    between neither loses nor repeats a tick.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[StoredSchedule, ...]:
        """Return all schedules, by the names of their pipelines."""
        query = sa.select(SCHEDULES.c.document).order_by(SCHEDULES.c.pipeline)
        with self._database.reading() as connection:
            return tuple(_read(text) for text in connection.execute(query).scalars())

    def get(self, pipeline: str) -> StoredSchedule | None:
        """Return the pipeline's schedule, None if it has none."""
        with self._database.reading() as connection:
            return _get(connection, pipeline)

    def put(self, schedule: Schedule, run: str) -> None:
        """Write a schedule in a run's name; it replaces the pipeline's other one."""
        with self._database.writing() as connection:
            known = _get(connection, schedule.pipeline)
            if known is not None and (known.schedule, known.run) == (schedule, run):
                return
            by = sa.select(RUNS.c.created_by).where(RUNS.c.id == run)
            approved = sa.select(REQUESTS.c.decided_by).where(REQUESTS.c.run == run)
            at = now()
            made = StoredSchedule(
                schedule=schedule,
                run=run,
                created_at=at,
                created_by=connection.execute(by).scalar() or run,
                approved_by=connection.execute(approved).scalar(),
                counted_to=at,
            )
            _put(connection, made)
            _drop_waiting(connection, schedule.pipeline, "the schedule was replaced")
            _cancel_request(connection, schedule.pipeline, "the schedule was replaced")

    def restore(self, pipeline: str, before: StoredSchedule | None) -> None:
        """Write a schedule as it was, None for none; ticks of the time between are not missed."""
        with self._database.writing() as connection:
            if before is not None and _same(_get(connection, pipeline), before):
                return
            how = "removed the schedule" if before is None else "restored the earlier schedule"
            _drop_waiting(connection, pipeline, f"an undo {how}")
            _cancel_request(connection, pipeline, f"an undo {how}")
            if before is None:
                connection.execute(sa.delete(SCHEDULES).where(SCHEDULES.c.pipeline == pipeline))
            else:
                _put(connection, replace(before, counted_to=now()))

    def pause(self, pipeline: str, *, by: str) -> None:
        """Have no ticks until `resume`; RefusedError if it is paused, NotFoundError without one."""
        with self._database.writing() as connection:
            found = _must(connection, pipeline)
            if found.paused_at is not None:
                raise RefusedError(
                    f"the schedule of {pipeline} was already paused by {found.paused_by}. To "
                    f"resume the schedule, run `headgate schedules --resume {pipeline}`"
                )
            _put(connection, replace(found, paused_at=now(), paused_by=by))
            _drop_waiting(connection, pipeline, f"{by} paused the schedule")
            write_audit(connection, by=by, action="pause schedule", pipeline=pipeline)

    def resume(self, pipeline: str, *, by: str) -> None:
        """Enable ticks, starting now; RefusedError if it isn't paused."""
        with self._database.writing() as connection:
            found = _must(connection, pipeline)
            if found.paused_at is None:
                raise RefusedError(
                    f"the schedule of {pipeline} is already active. To pause the schedule, run "
                    f"`headgate schedules --pause {pipeline}`"
                )
            at = now()
            _put(connection, replace(found, paused_at=None, paused_by=None, counted_to=at))
            write_audit(connection, by=by, action="resume schedule", pipeline=pipeline)

    def watch(self, known: StoredSchedule, inputs: Inputs) -> None:
        """Keep what the inputs looked like last; fine if the schedule is another one now."""
        with self._database.writing() as connection:
            found = _get(connection, known.pipeline)
            if found is not None and found.run == known.run:
                _put(connection, replace(found, inputs=inputs))

    def count(
        self, known: StoredSchedule, due: Sequence[str], *, missed: int = 0, most: int = 1
    ) -> None:
        """Record ticks that are due, oldest first, as waiting ones.

        Of all that wait, the newest `most` are kept, and those before them are part of the oldest
        of these, as are `missed` more. Nothing is done if the schedule is another one now or is
        paused, or if the ticks are recorded.
        """
        with self._database.writing() as connection:
            found = _get(connection, known.pipeline)
            if found is None or found.run != known.run or found.paused_at is not None:
                return
            new = [at for at in due if at > found.counted_to]
            if not new:
                return
            _put(connection, replace(found, counted_to=new[-1]))
            for at in new:
                _add(connection, known.pipeline, at, missed if at == new[0] else 0)
            _merge(connection, known.pipeline, most)
            _prune(connection, known.pipeline)

    def waiting(self, pipeline: str) -> tuple[Tick, ...]:
        """Return the ticks that are due and not decided, oldest first."""
        with self._database.reading() as connection:
            return tuple(_waiting(connection, pipeline))

    def ticks(self, pipeline: str, *, limit: int = 20) -> tuple[Tick, ...]:
        """Return the newest ticks, newest first."""
        query = _ticks(pipeline).order_by(SCHEDULE_TICKS.c.due_at.desc()).limit(limit)
        with self._database.reading() as connection:
            return tuple(_tick(row) for row in connection.execute(query))

    def wait(self, tick: Tick, reason: str) -> None:
        """Say why a tick still waits."""
        with self._database.writing() as connection:
            _decide(connection, tick, TickState.WAITING, reason=reason)

    def skip(self, tick: Tick, reason: str, *, records: int | None = None) -> None:
        """End a tick without a run."""
        with self._database.writing() as connection:
            _decide(connection, tick, TickState.SKIPPED, reason=reason, records=records)

    def queue(
        self, known: StoredSchedule, tick: Tick, run: NewRun, *, records: int | None
    ) -> str | None:
        """Queue the run of a waiting tick and return its id; None if the tick is decided already.

        RefusedError if a run of the pipeline is active, or one with the same resource: then nothing
        is changed.
        """
        with self._database.writing() as connection:
            if not _is_open(connection, known, tick):
                return None
            _refuse_if_active(connection, known.pipeline)
            made = insert_run(connection, run, by=known.actor)
            _decide(connection, tick, TickState.QUEUED, run=made, records=records)
            _say(connection, known, tick, action="apply", run=made)
            return made

    def request(
        self, known: StoredSchedule, tick: Tick, request: NewRequest, *, records: int | None
    ) -> str | None:
        """Request the run of a waiting tick and return the request's id; None as for `queue`.

        The requester is who created the schedule: somebody else has to approve it.
        """
        with self._database.writing() as connection:
            if not _is_open(connection, known, tick):
                return None
            made = insert_request(connection, request, by=known.created_by)
            _decide(
                connection,
                tick,
                TickState.REQUESTED,
                request=made,
                reason=request.reason,
                records=records,
            )
            _say(connection, known, tick, action="request", request=made)
            return made

    def runs(self, pipeline: str) -> frozenset[str]:
        """Return the runs of the pipeline's ticks, also those that a request queued."""
        query = (
            sa.select(sa.func.coalesce(SCHEDULE_TICKS.c.run, REQUESTS.c.run))
            .join(REQUESTS, SCHEDULE_TICKS.c.request == REQUESTS.c.id, isouter=True)
            .where(SCHEDULE_TICKS.c.pipeline == pipeline)
        )
        with self._database.reading() as connection:
            return frozenset(filter(None, connection.execute(query).scalars()))

    def of_run(self, run: str) -> StoredSchedule | None:
        """Return the schedule one of whose ticks queued the run; None if a request did."""
        query = sa.select(SCHEDULE_TICKS.c.pipeline).where(SCHEDULE_TICKS.c.run == run)
        with self._database.reading() as connection:
            pipeline = connection.execute(query).scalar()
            return _get(connection, pipeline) if pipeline is not None else None

    def open_request(self, pipeline: str) -> str | None:
        """Return the request of an earlier tick that is still open."""
        with self._database.reading() as connection:
            return _open_request(connection, pipeline)

    def cancel_request(self, known: StoredSchedule, request: str, reason: str) -> None:
        """Cancel the request of an earlier tick; RefusedError if it is no longer open."""
        with self._database.writing() as connection:
            cancel_request(connection, request, by=known.actor, reason=reason)


def _read(text: str) -> StoredSchedule:
    return msgspec.json.decode(text, type=StoredSchedule)


def _get(connection: Connection, pipeline: str) -> StoredSchedule | None:
    query = sa.select(SCHEDULES.c.document).where(SCHEDULES.c.pipeline == pipeline)
    found = connection.execute(query).scalar()
    return _read(found) if found is not None else None


def _must(connection: Connection, pipeline: str) -> StoredSchedule:
    found = _get(connection, pipeline)
    if found is None:
        raise NotFoundError(
            f"{pipeline} has no schedule. To list all schedules, run `headgate schedules`"
        )
    return found


def _same(one: StoredSchedule | None, other: StoredSchedule) -> bool:
    """Whether it is the same schedule of the same run, wherever its ticks are."""
    return one is not None and (one.run, one.created_at) == (other.run, other.created_at)


def _put(connection: Connection, made: StoredSchedule) -> None:
    connection.execute(sa.delete(SCHEDULES).where(SCHEDULES.c.pipeline == made.pipeline))
    row = {"pipeline": made.pipeline, "document": msgspec.json.encode(made).decode()}
    connection.execute(sa.insert(SCHEDULES).values(**row))


def _ticks(pipeline: str) -> sa.Select[Any]:
    return sa.select(SCHEDULE_TICKS).where(SCHEDULE_TICKS.c.pipeline == pipeline)


def _tick(row: sa.Row[Any]) -> Tick:
    return Tick(**{**row._mapping, "state": TickState(row.state)})


def _waiting(connection: Connection, pipeline: str) -> list[Tick]:
    query = _ticks(pipeline).where(SCHEDULE_TICKS.c.state == TickState.WAITING.value)
    return [_tick(r) for r in connection.execute(query.order_by(SCHEDULE_TICKS.c.due_at))]


def _open_request(connection: Connection, pipeline: str) -> str | None:
    query = (
        sa.select(REQUESTS.c.id)
        .join(SCHEDULE_TICKS, SCHEDULE_TICKS.c.request == REQUESTS.c.id)
        .where(SCHEDULE_TICKS.c.pipeline == pipeline)
        .where(REQUESTS.c.state == RequestState.OPEN.value)
    )
    return connection.execute(query.limit(1)).scalar()


def _cancel_request(connection: Connection, pipeline: str, reason: str) -> None:
    request, known = _open_request(connection, pipeline), _get(connection, pipeline)
    if request is not None and known is not None:
        cancel_request(connection, request, by=known.actor, reason=reason)


def _drop_waiting(connection: Connection, pipeline: str, reason: str) -> None:
    for tick in _waiting(connection, pipeline):
        _decide(connection, tick, TickState.SKIPPED, reason=reason)


def _add(connection: Connection, pipeline: str, due_at: str, missed: int) -> None:
    values = {"state": TickState.WAITING.value, "at": now(), "missed": missed}
    query = sa.insert(SCHEDULE_TICKS).values(pipeline=pipeline, due_at=due_at, **values)
    connection.execute(query)


def _merge(connection: Connection, pipeline: str, most: int) -> None:
    """Keep the newest `most` waiting ticks; the others are part of the oldest of these."""
    waiting = _waiting(connection, pipeline)
    merged, kept = waiting[:-most], waiting[-most:]
    if not merged:
        return
    mine, due = SCHEDULE_TICKS.c.pipeline == pipeline, SCHEDULE_TICKS.c.due_at
    missed = kept[0].missed + sum(tick.missed + 1 for tick in merged)
    gone = due.in_([tick.due_at for tick in merged])
    connection.execute(sa.delete(SCHEDULE_TICKS).where(mine, gone))
    oldest = sa.update(SCHEDULE_TICKS).where(mine, due == kept[0].due_at)
    connection.execute(oldest.values(missed=missed))


def _prune(connection: Connection, pipeline: str) -> None:
    """Remove the oldest decided ticks, but not that of an open request: it is looked for."""
    mine = SCHEDULE_TICKS.c.pipeline == pipeline
    kept = sa.select(SCHEDULE_TICKS.c.due_at).where(mine)
    kept = kept.order_by(SCHEDULE_TICKS.c.due_at.desc()).offset(MOST_KEPT).limit(1)
    oldest = connection.execute(kept).scalar()
    if oldest is not None:
        decided = SCHEDULE_TICKS.c.state != TickState.WAITING.value
        old = SCHEDULE_TICKS.c.due_at <= oldest
        open_ = sa.select(REQUESTS.c.id).where(
            REQUESTS.c.id == SCHEDULE_TICKS.c.request, REQUESTS.c.state == RequestState.OPEN.value
        )
        connection.execute(sa.delete(SCHEDULE_TICKS).where(mine, decided, old, ~open_.exists()))


def _is_open(connection: Connection, known: StoredSchedule, tick: Tick) -> bool:
    """Whether the tick still waits, and its schedule is the one that it is of."""
    found = _get(connection, known.pipeline)
    if found is None or found.run != known.run or found.paused_at is not None:
        return False
    return any(t.due_at == tick.due_at for t in _waiting(connection, tick.pipeline))


def _refuse_if_active(connection: Connection, pipeline: str) -> None:
    query = sa.select(RUNS.c.id, RUNS.c.state).where(
        RUNS.c.pipeline == pipeline, RUNS.c.state.in_(ACTIVE)
    )
    found = connection.execute(query).first()
    if found is not None:
        raise busy(found.id, found.state, f"pipeline {pipeline}")


def _decide(connection: Connection, tick: Tick, state: TickState, **values: Any) -> None:
    """Write what came of a tick, unless it was decided meanwhile."""
    query = sa.update(SCHEDULE_TICKS).where(
        SCHEDULE_TICKS.c.pipeline == tick.pipeline,
        SCHEDULE_TICKS.c.due_at == tick.due_at,
        SCHEDULE_TICKS.c.state == TickState.WAITING.value,
    )
    given = {"reason": None, **values}
    connection.execute(query.values(state=state.value, at=now(), **given))


def _say(
    connection: Connection, known: StoredSchedule, tick: Tick, *, action: str, **of: str
) -> None:
    """Name the schedule and who approved it in the audit trail."""
    details = {
        "tick": tick.due_at,
        "schedule_run": known.run,
        "created_by": known.created_by,
        "approved_by": known.approved_by,
    }
    write_audit(
        connection,
        by=known.actor,
        action=action,
        pipeline=known.pipeline,
        details=details,
        **of,
    )
