"""Where the checkpoints of queries are that runs have led to a new place."""

from __future__ import annotations

import sqlalchemy as sa

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.tables import PLACES


class CheckpointLocations:
    """A row means: the query's checkpoint is at `location` as long as the file says `declared`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, tuple[str, str]]:
        """Return what `Registry.led` takes: by pipeline what is declared, and the place."""
        with self._database.reading() as connection:
            rows = connection.execute(
                sa.select(PLACES.c.pipeline, PLACES.c.declared, PLACES.c.location)
            )
            return {r.pipeline: (r.declared, r.location) for r in rows}

    def switch_checkpoint(self, pipeline: str, *, declared: str, location: str, run: str) -> None:
        """Record the place; that which is declared needs no row."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(PLACES).where(PLACES.c.pipeline == pipeline))
            if location != declared:
                row = {"pipeline": pipeline, "declared": declared, "location": location}
                connection.execute(sa.insert(PLACES).values(**row, run=run, at=now()))
