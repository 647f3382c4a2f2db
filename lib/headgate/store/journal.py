"""What a run was about to do and what it did, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.store.audit import write_audit
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import STEP, Event, JournalEntry, Note
from headgate.store.tables import JOURNAL, PROGRESS, RUNS


class Journal:
    """Entries are only ever added, each with its audit row in a transaction that reached the disk.

    `begun`: the step's effect may have happened; the entry holds what its undo needs.
    `done`: the effect happened and was verified. `failed`: the step gave up; before `begun`
    nothing was done, after it the effect may be there in part. `returning`: the run's own
    roll-back may have reverted the effect in part. `undone`: the old state was restored, by
    another run or by the roll-back. A step with `begun` or `returning`, and without `done` or
    `undone`, is in doubt: check the cluster state before doing anything.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, run: str, position: int, event: Event, data: Mapping[str, Any] | None = None
    ) -> None:
        """Append an entry; it is on disk when this returns."""
        with self._database.writing() as connection:
            write_entry(connection, run, position, event, data)

    def add_all(self, entries: Sequence[tuple[str, int, Event]], *, doer: str) -> None:
        """Append entries without data in one transaction: all of them or none.

        `doer` is the run that they are the work of: an undo marks another run's steps.
        """
        with self._database.writing() as connection:
            for run, position, event in entries:
                write_entry(connection, run, position, event, doer=doer)

    def entries(self, run: str) -> list[JournalEntry]:
        """Return what was journalled of the run, oldest first."""
        with self._database.reading() as connection:
            return entries_in(connection, run)

    def newest(self, run: str) -> tuple[int, int]:
        """Return numbers that grow with each entry and with each message of the run."""
        entries, notes = (
            sa.select(sa.func.max(table.c.seq)).where(table.c.run == run).scalar_subquery()
            for table in (JOURNAL, PROGRESS)
        )
        with self._database.reading() as connection:
            found = connection.execute(sa.select(entries, notes)).one()
        return found[0] or 0, found[1] or 0

    def note(self, run: str, position: int, message: str) -> None:
        """Say how a step gets on."""
        values = {"run": run, "position": position, "message": message, "at": now()}
        with self._database.writing() as connection:
            connection.execute(sa.insert(PROGRESS).values(**values))

    def notes(self, run: str) -> list[Note]:
        """Return the messages of the run, oldest first."""
        query = sa.select(PROGRESS).where(PROGRESS.c.run == run).order_by(PROGRESS.c.seq)
        with self._database.reading() as connection:
            rows = [dict(row._mapping) for row in connection.execute(query)]
        return [Note(**{k: v for k, v in row.items() if k != "seq"}) for row in rows]


def entries_in(connection: Connection, run: str) -> list[JournalEntry]:
    """Return a run's entries within the caller's transaction, oldest first."""
    query = sa.select(JOURNAL).where(JOURNAL.c.run == run).order_by(JOURNAL.c.seq)
    return [_entry(row._mapping) for row in connection.execute(query)]


def write_entry(
    connection: Connection,
    run: str,
    position: int,
    event: Event,
    data: Mapping[str, Any] | None = None,
    *,
    doer: str | None = None,
) -> None:
    """Append an entry within the caller's transaction, and its audit row.

    `doer` is the run whose worker did it, `run` itself if it is None. Manual steps and their
    confirmations have audit rows of their own.
    """
    text = json.dumps(dict(data or {}), sort_keys=True)
    connection.execute(
        sa.insert(JOURNAL).values(
            run=run, position=position, event=event.value, data=text, at=now()
        )
    )
    if event not in (Event.ASKED, Event.CONFIRMED):
        details = {"step": position, **{k: v for k, v in (data or {}).items() if k == "error"}}
        _audit(connection, run, event, details, doer=doer or run)


def _audit(
    connection: Connection, run: str, event: Event, details: Mapping[str, Any], *, doer: str
) -> None:
    query = sa.select(RUNS.c.slot, RUNS.c.pipeline).where(RUNS.c.id == doer)
    row = connection.execute(query).first()
    write_audit(
        connection,
        by=(row.slot if row else None) or "worker",
        action=f"{STEP}{event.value}",
        run=run,
        pipeline=row.pipeline if row else None,
        details=details,
    )


def _entry(mapping: Mapping[Any, Any]) -> JournalEntry:
    return JournalEntry(
        run=mapping["run"],
        position=mapping["position"],
        event=Event(mapping["event"]),
        data=json.loads(mapping["data"]),
        at=mapping["at"],
    )
