"""Requests: a plan that one person requests, and another person's decision."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.errors import NotFoundError, RefusedError, StalePlanError
from headgate.model.person import is_same_person
from headgate.store.audit import write_audit
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.queueing import new_id
from headgate.store.rows import NewRequest, NewRun, RequestRow, RequestState
from headgate.store.runs import insert_run
from headgate.store.tables import REQUESTS


class Requests:
    """Every change writes its audit row in the same transaction; an ended row never changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, new: NewRequest, *, by: str) -> str:
        """Return the id of a new open request."""
        with self._database.writing() as connection:
            request = insert_request(connection, new, by=by)
            _audit(connection, _get(connection, request), by=by, action="request", why=new.reason)
        return request

    def approve(self, request: str, run: NewRun, *, by: str, reason: str | None = None) -> str:
        """Queue the run of an open request and return its id.

        RefusedError if it is not open, if `by` requested it, or if an active run has a
        resource; StalePlanError if `run` has another plan than the requested one.
        """
        with self._database.writing() as connection:
            row = _to_approve(connection, request, by)
            if row.plan_hash != run.plan_hash:
                raise StalePlanError(f"the plan changed after request {request} was created")
            made = insert_run(connection, run, by=row.asked_by)
            _decide(connection, row, RequestState.APPROVED, by=by, reason=reason, run=made)
        return made

    def to_approve(self, request: str, *, by: str) -> RequestRow:
        """Return the request; RefusedError if it is not open, or `by` requested it."""
        with self._database.reading() as connection:
            return _to_approve(connection, request, by)

    def decline(self, request: str, *, by: str, reason: str) -> None:
        """End an open request without a run; RefusedError where it is not open."""
        with self._database.writing() as connection:
            row = _open(connection, request)
            _decide(connection, row, RequestState.DECLINED, by=by, reason=reason)

    def cancel(self, request: str, *, by: str, reason: str | None = None) -> None:
        """Take an open request back; RefusedError where it is not open, or is another's."""
        with self._database.writing() as connection:
            row = _open(connection, request)
            if row.asked_by != by:
                raise RefusedError(
                    f"only {row.asked_by} can cancel request {request}. Run `headgate decline "
                    f"{request}` instead"
                )
            _decide(connection, row, RequestState.CANCELLED, by=by, reason=reason)

    def get(self, request: str) -> RequestRow:
        """Return the request; NotFoundError where there is none of that id."""
        with self._database.reading() as connection:
            return _get(connection, request)

    def list(self) -> tuple[RequestRow, ...]:
        """Return all requests, newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(_query().order_by(REQUESTS.c.seq.desc()))
            return tuple(map(_row, rows))

    def of_run(self, run: str) -> RequestRow | None:
        """Return the request that a run came from, None where nobody had to be asked."""
        with self._database.reading() as connection:
            row = connection.execute(_query().where(REQUESTS.c.run == run)).first()
        return _row(row) if row else None


def insert_request(connection: Connection, new: NewRequest, *, by: str) -> str:
    """Add an open request within the caller's transaction, which writes the audit row, too."""
    request = new_id()
    values = {
        "id": request,
        "scenario": new.scenario,
        "pipeline": new.pipeline,
        "reason": new.reason,
        "plan_hash": new.plan_hash,
        "plan": new.plan,
        "state": RequestState.OPEN.value,
        "asked_at": now(),
        "asked_by": by,
    }
    connection.execute(sa.insert(REQUESTS).values(**values))
    return request


def cancel_request(connection: Connection, request: str, *, by: str, reason: str) -> None:
    """Cancel an open request within the caller's transaction."""
    _decide(connection, _open(connection, request), RequestState.CANCELLED, by=by, reason=reason)


def _query() -> sa.Select[Any]:
    return sa.select(*(c for c in REQUESTS.c if c.name != "seq"))


def _row(row: sa.Row[Any]) -> RequestRow:
    return RequestRow(**{**row._mapping, "state": RequestState(row.state)})


def _get(connection: Connection, request: str) -> RequestRow:
    row = connection.execute(_query().where(REQUESTS.c.id == request)).first()
    if row is None:
        raise NotFoundError(f"request {request} not found: `headgate requests` lists all requests")
    return _row(row)


def _open(connection: Connection, request: str) -> RequestRow:
    row = _get(connection, request)
    if row.state is not RequestState.OPEN:
        raise RefusedError(
            f"request {request} was already {row.state} by {row.decided_by}. `headgate requests` "
            "lists all requests"
        )
    return row


def _to_approve(connection: Connection, request: str, by: str) -> RequestRow:
    row = _open(connection, request)
    if is_same_person(row.asked_by, by):
        raise RefusedError(
            f"{row.asked_by} created request {request}: another person must approve it. Ask that "
            f"person to run `headgate approve {request}`, or run `headgate cancel {request}`"
        )
    return row


_WORDS = {
    RequestState.APPROVED: "approve",
    RequestState.DECLINED: "decline",
    RequestState.CANCELLED: "cancel",
}


def _decide(
    connection: Connection,
    row: RequestRow,
    state: RequestState,
    *,
    by: str,
    reason: str | None,
    run: str | None = None,
) -> None:
    values = {"state": state.value, "decided_at": now(), "decided_by": by, "decision": reason}
    connection.execute(sa.update(REQUESTS).where(REQUESTS.c.id == row.id).values(**values, run=run))
    _audit(connection, row, by=by, action=_WORDS[state], why=reason, run=run)


def _audit(
    connection: Connection,
    row: RequestRow,
    *,
    by: str,
    action: str,
    why: str | None,
    run: str | None = None,
) -> None:
    details = {"plan": row.plan_hash, **({"reason": why} if why else {})}
    write_audit(
        connection,
        by=by,
        action=action,
        run=run,
        pipeline=row.pipeline,
        request=row.id,
        details=details,
    )
