"""The last known state of each pipeline."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from headgate.model.activity import Activity
from headgate.store.database import Database
from headgate.store.tables import ACTIVITY


class Activities:
    """A row here means that somebody checked the pipeline at `looked_at` and found this.

    There is one row per pipeline, of the newest check; a pipeline that was never checked has none.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, pipeline: str, activity: Activity) -> None:
        """Keep what was found; an older look never replaces a newer one."""
        row = {
            "state": activity.state.value,
            "since": activity.since,
            "seen_at": activity.seen_at,
            "looked_at": activity.looked_at or "",
            "document": msgspec.json.encode(activity).decode(),
        }
        with self._database.writing() as connection:
            mine = ACTIVITY.c.pipeline == pipeline
            known = connection.execute(sa.select(ACTIVITY.c.looked_at).where(mine)).scalar()
            if known is None:
                connection.execute(sa.insert(ACTIVITY).values(pipeline=pipeline, **row))
            elif known <= row["looked_at"]:
                connection.execute(sa.update(ACTIVITY).where(mine).values(**row))

    def all(self) -> dict[str, Activity]:
        """Return what was found, by pipeline."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(ACTIVITY.c.pipeline, ACTIVITY.c.document))
            return {name: msgspec.json.decode(document, type=Activity) for name, document in rows}
