"""Locations of checkpoints that runs have switched queries to."""

from __future__ import annotations

import sqlalchemy as sa

from headgate.store.clock import now
from headgate.store.database import Database
from headgate.store.tables import LOCATIONS


class CheckpointLocations:
    """A row means: the query's checkpoint is at `location` as long as the file says `declared`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, tuple[str, str]]:
        """Return what `Registry.led` takes: by pipeline the declared and the current location."""
        with self._database.reading() as connection:
            rows = connection.execute(
                sa.select(LOCATIONS.c.pipeline, LOCATIONS.c.declared, LOCATIONS.c.location)
            )
            return {r.pipeline: (r.declared, r.location) for r in rows}

    def switch_checkpoint(self, pipeline: str, *, declared: str, location: str, run: str) -> None:
        """Record the location; the declared one needs no row."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(LOCATIONS).where(LOCATIONS.c.pipeline == pipeline))
            if location != declared:
                row = {"pipeline": pipeline, "declared": declared, "location": location}
                connection.execute(sa.insert(LOCATIONS).values(**row, run=run, at=now()))
