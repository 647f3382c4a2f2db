"""One SQLite file of the store, read and written by Python's own module."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from headgate.errors import StoreError
from headgate.store.unusable import unusable

_BUSY_SECONDS = 30.0


class SqliteFile:
    """One SQLite file; its errors become ours, in the words of `Database`."""

    def __init__(self, path: Path, url: str) -> None:
        self.path = path.absolute()
        self._url = url
        with self._ours():
            # Neither made nor locked: a file that a worker writes to may be read meanwhile.
            self._connection = sqlite3.connect(
                f"file:{quote(str(self.path))}?mode=rw",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
            )
            self._connection.row_factory = sqlite3.Row

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Return what a query finds."""
        with self._ours():
            return self._connection.execute(query, values).fetchall()

    def stamp(self) -> int:
        """Return a number that is another one once somebody else has written."""
        return int(self.rows("PRAGMA data_version")[0][0])

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Begin a transaction as `Database.writing` does; `add` and `rows` are part of it."""
        with self._ours():
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.execute("BEGIN IMMEDIATE")
            # Rolls back where what follows fails.
            with self._connection:
                yield

    def add(self, table: str, values: Mapping[str, object]) -> None:
        """Insert a row; the names are the program's own."""
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        query = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        with self._ours():
            self._connection.execute(query, tuple(values.values()))

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
            raise unusable(self._url, True, error) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"database error in the store {self._url}: {error}") from error
