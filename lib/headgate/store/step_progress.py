"""How far a run's steps are: the newest count of each unit, not its history."""

from __future__ import annotations

import sqlalchemy as sa

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.rows import StepProgress
from headgate.store.tables import RUNS, STEP_PROGRESS


class Progresses:
    """One row a step and unit. Losing the newest one does no harm: it is for people to watch."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, run: str, position: int, unit: str, done: int, total: int | None) -> None:
        """Replace the last count by the newest; one that falls begins a new try."""
        key = (
            (STEP_PROGRESS.c.run == run)
            & (STEP_PROGRESS.c.position == position)
            & (STEP_PROGRESS.c.unit == unit)
        )
        count = {"done": done, "total": total, "at": now()}
        first = {"first_done": done, "first_at": count["at"]}
        with self._database.writing() as connection:
            before = connection.execute(sa.select(STEP_PROGRESS.c.done).where(key)).scalar()
            if before is None:
                names = {"run": run, "position": position, "unit": unit}
                connection.execute(sa.insert(STEP_PROGRESS).values(**names, **count, **first))
                return
            values = {**count, **(first if done < before else {})}
            connection.execute(sa.update(STEP_PROGRESS).where(key).values(**values))

    def runs(self, unit: str) -> tuple[str, ...]:
        """Return the runs with a step that counts in that unit, newest first."""
        counted = sa.select(STEP_PROGRESS.c.run).where(STEP_PROGRESS.c.unit == unit)
        query = sa.select(RUNS.c.id).where(RUNS.c.id.in_(counted)).order_by(RUNS.c.seq.desc())
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def of(self, run: str) -> tuple[StepProgress, ...]:
        """Return the newest counts of a run, by step and unit."""
        query = (
            sa.select(STEP_PROGRESS)
            .where(STEP_PROGRESS.c.run == run)
            .order_by(STEP_PROGRESS.c.position, STEP_PROGRESS.c.unit)
        )
        with self._database.reading() as connection:
            return tuple(StepProgress(**row._mapping) for row in connection.execute(query))
