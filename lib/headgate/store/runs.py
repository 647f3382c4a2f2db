"""Runs: what was requested, which worker executes the run, and how the run ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.errors import NotFoundError, RefusedError
from headgate.store.audit import write_audit
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.journal import entries_in, write_entry
from headgate.store.queueing import ACTIVE, busy, new_id, queued_columns
from headgate.store.rows import ALL_RUNS, Event, NewRun, RunFacts, RunFilter, RunRow, RunState
from headgate.store.tables import RUN_RESOURCES, RUNS


class Runs:
    """A row here means that somebody requested the run; its audit row was written with it.

    No two active runs touch the same resource (`group:billing`, `checkpoint:/data/ck`). A
    RUNNING row belongs to the worker that holds the lock of its `slot`, or held it when it died.
    An ended row changes only through a resume.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue(self, new: NewRun, *, by: str, action: str) -> str:
        """Return the id of a new queued run; RefusedError where an active run has a resource."""
        with self._database.writing() as connection:
            run = insert_run(connection, new, by=by)
            _audit(connection, run, by=by, action=action, pipeline=new.pipeline)
        return run

    def requeue(self, run: str, *, by: str) -> None:
        """Queue a failed or cancelled run once more; RefusedError in any other state."""
        with self._database.writing() as connection:
            row = _get(connection, run)
            if row.state.is_active:
                raise RefusedError(
                    f"run {run} is {row.state}, and a worker is running. `headgate runs --follow "
                    f"{run}` waits until the run ends"
                )
            if row.state not in (RunState.FAILED, RunState.CANCELLED):
                raise RefusedError(
                    f"run {run} is {row.state}: only a failed or cancelled run can be resumed. "
                    f"`headgate runs {run}` shows its steps"
                )
            _refuse_if_busy(connection, _resources(connection, run), but=run)
            values = {"state": RunState.QUEUED.value, "attempt": row.attempt + 1}
            _update(connection, run, **values, ended_at=None, error=None, cancel_requested=False)
            _audit(connection, run, by=by, action="resume", pipeline=row.pipeline)

    def request_cancel(self, run: str, *, by: str) -> None:
        """Ask the worker to stop the run at its next step; RefusedError where it has ended."""
        with self._database.writing() as connection:
            row = _get(connection, run)
            if not row.state.is_active:
                raise RefusedError(
                    f"run {run} is {row.state}: there is nothing to cancel. `headgate runs {run}` "
                    "shows its steps"
                )
            _update(connection, run, cancel_requested=True)
            _audit(connection, run, by=by, action="cancel", pipeline=row.pipeline)

    def begin_roll_back(self, run: str) -> None:
        """Note that a refused run is being rolled back; called once more, it changes nothing.

        An earlier cancel requested just that. A later one stops the roll-back.
        """
        with self._database.writing() as connection:
            if any(e.event is Event.RETURNING for e in entries_in(connection, run)):
                return
            write_entry(connection, run, -1, Event.RETURNING)
            _update(connection, run, cancel_requested=False)

    def claim(self, slot: str) -> RunRow | None:
        """Give the oldest queued run to the worker that holds `slot`; None where there is none."""
        query = _query().where(RUNS.c.state == RunState.QUEUED.value).order_by(RUNS.c.seq).limit(1)
        with self._database.reading() as connection:
            # Workers ask all the time: mostly a read is enough.
            if connection.execute(query).first() is None:
                return None
        with self._database.writing() as connection:
            row = connection.execute(query).first()
            if row is None:
                return None
            values = {"state": RunState.RUNNING.value, "slot": slot}
            _update(connection, row.id, **values, started_at=row.started_at or now())
            return _get(connection, row.id)

    def finish(self, run: str, state: RunState, *, error: str | None = None) -> None:
        """Record the end of a running run; a second call changes nothing."""
        with self._database.writing() as connection:
            row = _get(connection, run)
            if row.state is not RunState.RUNNING:
                return
            _update(connection, run, state=state.value, ended_at=now(), error=error)
            who = row.slot or "worker"
            _audit(connection, run, by=who, action=state.value, pipeline=row.pipeline, error=error)

    def get(self, run: str) -> RunRow:
        """Return the run; NotFoundError where there is none of that id."""
        with self._database.reading() as connection:
            return _get(connection, run)

    def state(self, run: str) -> RunState:
        """Return only the run's state: whoever waits asks often, and its plan may be long."""
        query = sa.select(RUNS.c.state).where(RUNS.c.id == run)
        with self._database.reading() as connection:
            found = connection.execute(query).scalar()
        if found is None:
            raise NotFoundError(f"run {run} not found: `headgate runs` lists all runs")
        return RunState(found)

    def is_busy(self, slot: str) -> bool:
        """Return whether `running` has any, without reading them."""
        mine = sa.select(RUNS.c.id).where(
            RUNS.c.state == RunState.RUNNING.value, RUNS.c.slot == slot
        )
        with self._database.reading() as connection:
            return connection.execute(mine.limit(1)).first() is not None

    def list(
        self, which: RunFilter = ALL_RUNS, *, limit: int | None = None, offset: int = 0
    ) -> tuple[RunFacts, ...]:
        """Return the runs that fit, newest first; at most `limit` after the first `offset`."""
        query = _fitting(_query("plan"), which).order_by(RUNS.c.seq.desc())
        with self._database.reading() as connection:
            found = connection.execute(query.limit(limit).offset(offset or None))
            return tuple(RunFacts(**_values(row)) for row in found)

    def count(self, which: RunFilter = ALL_RUNS) -> int:
        """Return how many runs fit."""
        query = _fitting(sa.select(sa.func.count()).select_from(RUNS), which)
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def resources(self, run: str) -> tuple[str, ...]:
        """Return what the run touches."""
        with self._database.reading() as connection:
            return _resources(connection, run)

    def touching(self, resource: str) -> tuple[RunFacts, ...]:
        """Return the runs that touch a resource, newest first."""
        mine = sa.select(RUN_RESOURCES.c.run).where(RUN_RESOURCES.c.resource == resource)
        query = _query("plan").where(RUNS.c.id.in_(mine)).order_by(RUNS.c.seq.desc())
        with self._database.reading() as connection:
            return tuple(RunFacts(**_values(row)) for row in connection.execute(query))

    def running(self, slot: str) -> tuple[RunRow, ...]:
        """Return the runs that the slot's worker has, or had when it died; oldest first."""
        query = _query().where(RUNS.c.state == RunState.RUNNING.value, RUNS.c.slot == slot)
        with self._database.reading() as connection:
            return tuple(map(_row, connection.execute(query.order_by(RUNS.c.seq))))


def insert_run(connection: Connection, new: NewRun, *, by: str) -> str:
    """Queue a run within the caller's transaction, which writes the audit row, too."""
    run = new_id()
    _refuse_if_busy(connection, new.resources, but=None)
    connection.execute(sa.insert(RUNS).values(**queued_columns(new, run, by=by)))
    for resource in sorted(set(new.resources)):
        connection.execute(sa.insert(RUN_RESOURCES).values(run=run, resource=resource))
    return run


def _fitting(query: sa.Select[Any], which: RunFilter) -> sa.Select[Any]:
    for column, value in which.equal.items():
        query = query.where(RUNS.c[column] == value)
    if which.states:
        query = query.where(RUNS.c.state.in_([state.value for state in which.states]))
    return query


def _query(*but: str) -> sa.Select[Any]:
    return sa.select(*(c for c in RUNS.c if c.name not in ("seq", *but)))


def _row(row: sa.Row[Any]) -> RunRow:
    return RunRow(**_values(row))


def _values(row: sa.Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "state": RunState(row.state)}


def _get(connection: Connection, run: str) -> RunRow:
    row = connection.execute(_query().where(RUNS.c.id == run)).first()
    if row is None:
        raise NotFoundError(f"run {run} not found: `headgate runs` lists all runs")
    return _row(row)


def _update(connection: Connection, run: str, **values: Any) -> None:
    connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))


def _resources(connection: Connection, run: str) -> tuple[str, ...]:
    query = sa.select(RUN_RESOURCES.c.resource).where(RUN_RESOURCES.c.run == run)
    return tuple(sorted(connection.execute(query).scalars()))


def _refuse_if_busy(connection: Connection, resources: Sequence[str], *, but: str | None) -> None:
    query = (
        sa.select(RUNS.c.id, RUNS.c.state, RUN_RESOURCES.c.resource)
        .join(RUN_RESOURCES, RUN_RESOURCES.c.run == RUNS.c.id)
        .where(RUNS.c.state.in_(ACTIVE))
        .where(RUN_RESOURCES.c.resource.in_(resources))
        .where(RUNS.c.id != (but or ""))
    )
    found = connection.execute(query).first()
    if found is not None:
        raise busy(found.id, found.state, found.resource)


def _audit(
    connection: Connection,
    run: str,
    *,
    by: str,
    action: str,
    pipeline: str | None,
    error: str | None = None,
) -> None:
    details = {"error": error} if error else {}
    write_audit(connection, by=by, action=action, run=run, pipeline=pipeline, details=details)
