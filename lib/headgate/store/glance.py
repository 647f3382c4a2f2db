"""Read what a plan asks of the store from its SQLite file, without waiting for SQLAlchemy.

Only reads, and only of a file whose tables have this program's revision: whatever else there is
(PostgreSQL, an older store, none yet) is the store's own business.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from headgate.errors import StoreError, UnreachableError
from headgate.store.rows import Entry, Event, Origin, RunRow, RunState

if TYPE_CHECKING:
    from headgate.model.version import Version
    from headgate.store.store import Store

_SQLITE = "sqlite:///"
_BUSY_SECONDS = 30.0
_MIGRATIONS = Path(__file__).parent / "migrations" / "versions"
_COLUMNS = ", ".join(f"runs.{f.name}" for f in fields(RunRow))


class Glance:
    """The same questions as `Store`'s of the same names, and the same answers."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self.versions = _Versions(file)
        self.runs = _Runs(file)
        self.journal = _Journal(file)
        self.places = _Places(file)

    def close(self) -> None:
        """Close the connection."""
        self._file.close()


def open_for_reading(url: str) -> Store | Glance:
    """Return what answers a plan's questions soonest; errors are those of `open_store`."""
    found = _glance(url)
    if found is not None:
        return found
    from headgate.store.store import open_store

    return open_store(url)


def _glance(url: str) -> Glance | None:
    path = Path(url.removeprefix(_SQLITE))
    if not url.startswith(_SQLITE) or "?" in url or not path.is_file():
        return None
    file = _File(path, url)
    if file.revision() == _head():
        return Glance(file)
    file.close()
    return None


def _head() -> str:
    """Return the newest migration's number, which its file's name begins with."""
    return max(p.name[1:5] for p in _MIGRATIONS.glob("v[0-9]*.py"))


class _File:
    """One SQLite file; its errors become ours, in the words of `Database`."""

    def __init__(self, path: Path, url: str) -> None:
        self._url = url
        with self._ours():
            # Neither made nor locked: a file that a worker writes to may be read meanwhile.
            self._connection = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?mode=rw", uri=True, timeout=_BUSY_SECONDS
            )
            self._connection.row_factory = sqlite3.Row

    def close(self) -> None:
        self._connection.close()

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._ours():
            return self._connection.execute(query, values).fetchall()

    def revision(self) -> str | None:
        """Return the revision of the tables; None where there are none of ours."""
        table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
        if not self.rows(table):
            return None
        found = self.rows("SELECT version_num FROM alembic_version")
        return str(found[0][0]) if found else None

    @contextmanager
    def _ours(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise UnreachableError(f"the store {self._url} does not answer: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the store {self._url} refused a record: {error}") from error


class _Versions:
    def __init__(self, file: _File) -> None:
        self._file = file

    def running(self, pipeline: str) -> Version | None:
        """Return what was observed last; where nothing was, the newest version or None."""
        query = (
            "SELECT number, document FROM versions WHERE pipeline = ?"
            " ORDER BY origin = ? DESC, number DESC LIMIT 1"
        )
        found = self._file.rows(query, pipeline, Origin.OBSERVED.value)
        if not found:
            return None
        from headgate.parse import version_file

        return version_file.load(
            bytes(found[0]["document"]), source=f"{pipeline}@{found[0]['number']}"
        )


class _Runs:
    def __init__(self, file: _File) -> None:
        self._file = file

    def touching(self, resource: str) -> tuple[RunRow, ...]:
        """Return the runs that touch a resource, newest first."""
        query = (
            f"SELECT {_COLUMNS} FROM runs JOIN run_resources ON run_resources.run = runs.id"
            " WHERE run_resources.resource = ? ORDER BY runs.seq DESC"
        )
        return tuple(map(_run, self._file.rows(query, resource)))


class _Journal:
    def __init__(self, file: _File) -> None:
        self._file = file

    def entries(self, run: str) -> list[Entry]:
        """Return what was journalled of the run, oldest first."""
        query = "SELECT run, position, event, data, at FROM journal WHERE run = ? ORDER BY seq"
        return [_entry(row) for row in self._file.rows(query, run)]


class _Places:
    def __init__(self, file: _File) -> None:
        self._file = file

    def all(self) -> dict[str, tuple[str, str]]:
        """Return where checkpoints were led to: by pipeline what is declared, and the place."""
        rows = self._file.rows("SELECT pipeline, declared, location FROM places")
        return {row["pipeline"]: (row["declared"], row["location"]) for row in rows}


def _run(row: sqlite3.Row) -> RunRow:
    values: dict[str, Any] = dict(row)
    values["state"] = RunState(values["state"])
    values["cancel_requested"] = bool(values["cancel_requested"])
    return RunRow(**values)


def _entry(row: sqlite3.Row) -> Entry:
    values: dict[str, Any] = dict(row)
    values["event"], values["data"] = Event(values["event"]), json.loads(values["data"])
    return Entry(**values)
