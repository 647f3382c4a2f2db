"""What the programs of a run's steps report, as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import StepDocument
from headgate.store.tables import STEP_DOCUMENTS


class StepDocuments:
    """A row is the newest document of a name that one attempt of a step reported.

    Documents of earlier attempts stay: they say what a run did until it failed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(
        self, run: str, position: int, attempt: int, name: str, document: Mapping[str, Any]
    ) -> None:
        """Write a document; it replaces the one of that name of the same attempt."""
        key = {"run": run, "position": position, "name": name, "attempt": attempt}
        mine = sa.and_(*(STEP_DOCUMENTS.c[column] == value for column, value in key.items()))
        told = {"document": json.dumps(dict(document), sort_keys=True), "at": now()}
        with self._database.writing() as connection:
            found = connection.execute(sa.update(STEP_DOCUMENTS).where(mine).values(**told))
            if not found.rowcount:
                connection.execute(sa.insert(STEP_DOCUMENTS).values(**key, **told))

    def of(self, run: str) -> tuple[StepDocument, ...]:
        """Return the documents of a run, by step, name and attempt."""
        columns = STEP_DOCUMENTS.c
        query = (
            sa.select(STEP_DOCUMENTS)
            .where(columns.run == run)
            .order_by(columns.position, columns.name, columns.attempt)
        )
        with self._database.reading() as connection:
            rows = [dict(row._mapping) for row in connection.execute(query)]
        return tuple(StepDocument(**{**r, "document": json.loads(r["document"])}) for r in rows)
