"""The audit trail: who requested what, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import AuditRow
from headgate.store.tables import AUDIT


class Audit:
    """A row here means that somebody requested it, or that the worker did it.

    Rows are only ever added, and what belongs to a run is written in the transaction that
    changes the run: there is no queued run without its row.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        *,
        by: str,
        action: str,
        pipeline: str | None = None,
        run: str | None = None,
        **details: Any,
    ) -> None:
        """Record something that changes no run."""
        with self._database.writing() as connection:
            write_audit(
                connection, by=by, action=action, run=run, pipeline=pipeline, details=details
            )

    def list(self, run: str | None = None, *, request: str | None = None) -> list[AuditRow]:
        """Return the entries of one run or of one request, or all, oldest first."""
        query = sa.select(AUDIT).order_by(AUDIT.c.seq)
        if run is not None:
            query = query.where(AUDIT.c.run == run)
        if request is not None:
            query = query.where(AUDIT.c.request == request)
        with self._database.reading() as connection:
            return [AuditRow.read(r._mapping) for r in connection.execute(query)]


def write_audit(
    connection: Connection,
    *,
    by: str,
    action: str,
    run: str | None = None,
    pipeline: str | None = None,
    request: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry within the caller's transaction."""
    text = json.dumps(dict(details or {}), sort_keys=True)
    connection.execute(
        sa.insert(AUDIT).values(
            at=now(),
            by=by,
            action=action,
            run=run,
            pipeline=pipeline,
            request=request,
            details=text,
        )
    )
