"""Who asked for what, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.tables import AUDIT

# How the word for what happened to a step of a run begins: `step begun`, `step done`.
STEP = "step "


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One entry; `action` is a word such as `apply`, `undo`, `resume`, `cancel`, `done`.

    Of a step `details` hold its place in the run's plan, from 0 on; -1 is the beginning of the
    run's own roll-back.
    """

    at: str
    by: str
    action: str
    run: str | None = None
    pipeline: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    request: str | None = None

    @property
    def is_of_step(self) -> bool:
        """Whether the worker says what it did to a step; else somebody asked, or the run ended."""
        return self.action.startswith(STEP)


class Audit:
    """A row here means that somebody asked for it, or that the worker did it.

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
            return [_row(r._mapping) for r in connection.execute(query)]


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


def _row(mapping: Mapping[Any, Any]) -> AuditRow:
    values = {k: v for k, v in mapping.items() if k != "seq"}
    return AuditRow(**{**values, "details": json.loads(values["details"])})
