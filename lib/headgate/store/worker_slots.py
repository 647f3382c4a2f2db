"""A worker's slot: the lock that makes its executor id the only one of its name."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from headgate.errors import UnreachableError
from headgate.store.lock_file import open_lock
from headgate.store.rows import RunFacts, RunState

if TYPE_CHECKING:
    import sqlalchemy as sa

    from headgate.store.database import Database
    from headgate.store.sqlite_file import SqliteFile


_NAME = "slot-"


def slot_name(number: int) -> str:
    """Return the stable executor id of a slot."""
    return f"{_NAME}{number}"


def serving_slot(run: RunFacts) -> int:
    """Return the slot whose worker executes an active run; a queued run waits for the first."""
    is_running = run.state is RunState.RUNNING and run.slot is not None
    return int(str(run.slot).removeprefix(_NAME)) if is_running else 0


def is_served(database: Database | SqliteFile, run: RunFacts) -> bool:
    """Return whether a worker holds the slot of an active run, also if nothing shows this."""
    try:
        return not Slot(database, serving_slot(run)).is_free()
    except UnreachableError:
        return True


class Slot:
    """Holding it means: no other process executes runs under this name. The kernel (SQLite: a

    file's lock) or the server (PostgreSQL: an advisory lock of a session) releases it with the
    process, also with one that was killed.
    """

    def __init__(self, database: Database | SqliteFile, number: int = 0) -> None:
        self.name = slot_name(number)
        self._number = number
        self._database = database
        self._handle: int | None = None
        self._session: sa.Connection | None = None

    def take(self) -> bool:
        """Take the slot; False where another process holds it."""
        path = self._database.path
        if path is not None:
            return self._take_file(self._file(path))
        return self._take_advisory(cast("Database", self._database))

    def release(self) -> None:
        """Give the slot back; fine if it is not held."""
        if self._handle is not None:
            os.close(self._handle)
        if self._session is not None:
            from sqlalchemy.exc import DBAPIError

            with suppress(DBAPIError):
                self._session.close()
        self._handle = self._session = None

    def is_held(self) -> bool:
        """Return whether this process still holds it, taken again where it was free meanwhile.

        A server that restarts forgets its locks. False: another process may have it by now.
        """
        if self._session is None:
            return self._handle is not None
        import sqlalchemy as sa

        try:
            self._session.execute(sa.select(1))
            return True
        except sa.exc.DBAPIError:
            self.release()
        try:
            return self.take()
        except UnreachableError:
            # Nobody can take it there; but neither can we tell when somebody could.
            return False

    def is_free(self) -> bool:
        """Return whether nobody holds it, by taking it for a moment."""
        if not self.take():
            return False
        self.release()
        return True

    def _file(self, store: Path) -> Path:
        return store.with_name(f"{store.name}.{self.name}.lock")

    def _take_file(self, path: Path) -> bool:
        handle = open_lock(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def _take_advisory(self, database: Database) -> bool:
        # Imported here: who only asks whether a file is locked does not wait for it.
        import sqlalchemy as sa

        if not database.is_postgres:
            raise UnreachableError(
                "a worker needs a store in SQLite or PostgreSQL: change `[store] url` in "
                "headgate.toml"
            )
        with database.guarded():
            # Without a transaction of its own: an idle one is what servers end after a while.
            session = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            key = sa.func.hashtext(f"headgate-{self.name}")
            if not session.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar():
                session.close()
                return False
        # The lock is the session's: the connection must not go back to the pool.
        session.detach()
        self._session = session
        return True
