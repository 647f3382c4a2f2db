"""How far a run's steps are: the newest count of each unit, not its history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.tables import STEP_PROGRESS


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """`done` of `total` units (`records`, `partitions`, `bytes`, `files`) of one step.

    `total` is None where it is not known. `first_done` and `first_at` are the first count of the
    step's latest try, so that the rate is that of the work and not of what was there before it.
    Times are ISO 8601 in UTC.
    """

    run: str
    position: int
    unit: str
    done: int
    total: int | None
    first_done: int
    first_at: str
    at: str

    @property
    def rate(self) -> float | None:
        """Units per second since the first count; None before there are two."""
        passed = datetime.fromisoformat(self.at) - datetime.fromisoformat(self.first_at)
        seconds = passed.total_seconds()
        return (self.done - self.first_done) / seconds if seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at that rate; None where total or rate are not known."""
        if self.total is None:
            return None
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate else None


class Progresses:
    """One row a step and unit. Losing the newest one does no harm: it is for people to watch."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, run: str, position: int, unit: str, done: int, total: int | None) -> None:
        """Put the newest count in the place of the last; one that falls begins a new try."""
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

    def of(self, run: str) -> tuple[StepProgress, ...]:
        """Return the newest counts of a run, by step and unit."""
        query = (
            sa.select(STEP_PROGRESS)
            .where(STEP_PROGRESS.c.run == run)
            .order_by(STEP_PROGRESS.c.position, STEP_PROGRESS.c.unit)
        )
        with self._database.reading() as connection:
            return tuple(StepProgress(**row._mapping) for row in connection.execute(query))
