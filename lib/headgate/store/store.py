"""Open the store: one database, a repository for each kind of record."""

from __future__ import annotations

from headgate.store.activity import Activities
from headgate.store.audit import Audit
from headgate.store.checkpoint_locations import CheckpointLocations
from headgate.store.database import BUSY_SECONDS, Database
from headgate.store.journal import Journal
from headgate.store.manual_steps import Questions
from headgate.store.migrate import migrate
from headgate.store.requests import Requests
from headgate.store.restore_points import RestorePoints
from headgate.store.runs import Runs
from headgate.store.schedules import Schedules
from headgate.store.step_documents import StepDocuments
from headgate.store.step_progress import Progresses
from headgate.store.versions import Versions


class Store:
    """The repositories over one database whose tables exist; get it from `open_store`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.versions = Versions(database)
        self.runs = Runs(database)
        self.requests = Requests(database)
        self.journal = Journal(database)
        self.progress = Progresses(database)
        self.step_documents = StepDocuments(database)
        self.questions = Questions(database)
        self.audit = Audit(database)
        self.activity = Activities(database)
        self.checkpoint_locations = CheckpointLocations(database)
        self.restore_points = RestorePoints(database)
        self.schedules = Schedules(database)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()


def open_store(url: str, *, busy_seconds: float = BUSY_SECONDS) -> Store:
    """Return the store at any SQLAlchemy `url`, its tables migrated to this program's revision.

    Several processes may start at once. UnreachableError where the database doesn't answer
    within `busy_seconds`, StoreError where it is newer than this program.
    """
    database = Database(url, busy_seconds=busy_seconds)
    migrate(database)
    return Store(database)
