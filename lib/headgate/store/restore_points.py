"""Restore points of pipelines, the results of their checks, and the newest attempt."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from headgate.model.restore_points import PointCheck, RestorePoint
from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import PointTry
from headgate.store.tables import RESTORE_POINT_TRIES, RESTORE_POINTS


class RestorePoints:
    """A row here means that the point was whole when it was made, and that nobody removed it.

    Points are never changed. What a check of its files and state said is the newest check's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, pipeline: str) -> tuple[RestorePoint, ...]:
        """Return the points of a pipeline, oldest first."""
        query = (
            sa.select(RESTORE_POINTS.c.document)
            .where(RESTORE_POINTS.c.pipeline == pipeline)
            .order_by(RESTORE_POINTS.c.made_at, RESTORE_POINTS.c.id)
        )
        with self._database.reading() as connection:
            return tuple(_point(text) for text in connection.execute(query).scalars())

    def checks(self, pipeline: str) -> dict[str, PointCheck]:
        """Return by id what the newest check of each point said; most have one."""
        table = RESTORE_POINTS
        query = sa.select(table.c.id, table.c.checked_at, table.c.problem, table.c.rows).where(
            table.c.pipeline == pipeline, table.c.checked_at.is_not(None)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query)
            return {r.id: PointCheck(at=r.checked_at, problem=r.problem, rows=r.rows) for r in rows}

    def add(self, point: RestorePoint) -> None:
        """Add a point; fine if it is there."""
        row = {
            "id": point.id,
            "pipeline": point.pipeline,
            "made_at": point.made_at,
            "document": msgspec.json.encode(point).decode(),
        }
        with self._database.writing() as connection:
            mine = RESTORE_POINTS.c.id == point.id
            if connection.execute(sa.select(RESTORE_POINTS.c.id).where(mine)).scalar() is None:
                connection.execute(sa.insert(RESTORE_POINTS).values(**row))

    def remove(self, id: str) -> None:
        """Remove a point's row; fine if it is gone."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(RESTORE_POINTS).where(RESTORE_POINTS.c.id == id))

    def checked(self, id: str, *, problem: str | None, rows: int | None = None) -> None:
        """Record what a check of the point said."""
        found = {"checked_at": now(), "problem": problem, "rows": rows}
        with self._database.writing() as connection:
            query = sa.update(RESTORE_POINTS).where(RESTORE_POINTS.c.id == id)
            connection.execute(query.values(**found))

    def tried(self, pipeline: str, error: str | None) -> None:
        """Record that a point was tried, and why it failed; None: it worked, or nothing was due."""
        with self._database.writing() as connection:
            mine = RESTORE_POINT_TRIES.c.pipeline == pipeline
            connection.execute(sa.delete(RESTORE_POINT_TRIES).where(mine))
            row = {"pipeline": pipeline, "at": now(), "error": error}
            connection.execute(sa.insert(RESTORE_POINT_TRIES).values(**row))

    def tries(self) -> dict[str, PointTry]:
        """Return the newest try of each pipeline."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(RESTORE_POINT_TRIES))
            return {r.pipeline: PointTry(at=r.at, error=r.error) for r in rows}


def _point(text: str) -> RestorePoint:
    return msgspec.json.decode(text, type=RestorePoint)
