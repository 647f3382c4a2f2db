"""The store's connection: one writer at a time, foreign errors turned into ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from headgate.errors import StoreError, UnreachableError
from headgate.store.unusable import unusable
from headgate.text.private_files import private_file, private_folder

BUSY_SECONDS = 30.0
_WRITE = "headgate_write"
# The advisory lock that a write on PostgreSQL holds; the migration has another one.
_WRITE_LOCK = 0x48454157


class Database:
    """An engine with two kinds of transactions: `reading()` and `writing()`.

    Writes come one after the other, in whichever process: what one reads first is still so when
    it writes. On SQLite a write begins with BEGIN IMMEDIATE (a transaction that reads first and
    writes later would fail at once when another process wrote in between, whatever the busy
    timeout), on PostgreSQL with an advisory lock of the transaction. `busy_seconds` is how long
    a transaction waits for others.
    """

    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.url = _parsed(url)
        self.engine = _engine(self.url, busy_seconds)
        self._looking: sa.PoolProxiedConnection | None = None

    @property
    def path(self) -> Path | None:
        """The SQLite file; None for another database and for one in memory."""
        name = self.url.database
        is_file = self.url.get_backend_name() == "sqlite" and name and name != ":memory:"
        return Path(name).absolute() if is_file and name else None

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL."""
        return self.url.get_backend_name() == "postgresql"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for a consistent read."""
        with self.guarded(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection whose transaction is committed at the end or rolled back."""
        with self.guarded(), self.engine.connect() as raw:
            connection = raw.execution_options(**{_WRITE: True})
            with connection.begin():
                if self.is_postgres:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITE_LOCK)))
                yield connection

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn the database's errors into ours."""
        with _ours(self.url):
            yield

    def stamp(self) -> int | None:
        """Return a number that changes whenever somebody has written; for one thread.

        None if it is unknown: only SQLite counts, in the memory that it shares.
        """
        if self.path is None:
            return None
        try:
            if self._looking is None:
                # Its own: a connection doesn't count what it has written itself.
                self._looking = self.engine.raw_connection()
            cursor = self._looking.cursor()
            try:
                cursor.execute("PRAGMA data_version")
                found = cursor.fetchone()
                return None if found is None else int(found[0])
            finally:
                cursor.close()
        except (sqlite3.Error, sa.exc.DBAPIError):
            return None

    def close(self) -> None:
        """Close every pooled connection."""
        if self._looking is not None:
            self._looking.close()
            self._looking = None
        self.engine.dispose()


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
        parsed.get_dialect()
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError) as error:
        raise StoreError(
            f"the store's URL isn't a valid SQLAlchemy database URL: {error}. Correct `url` under "
            "[store] in headgate.toml"
        ) from None
    if (kind := parsed.get_backend_name()) not in ("sqlite", "postgresql"):
        raise StoreError(
            f"the store can't be in {kind}: pass a URL of SQLite or PostgreSQL as `url` under "
            "[store] in headgate.toml"
        )
    return parsed


def _engine(url: sa.URL, busy_seconds: float) -> Engine:
    if url.get_backend_name() == "postgresql":
        waits = {"options": f"-c lock_timeout={int(busy_seconds * 1000)}"}
        return sa.create_engine(url, pool_pre_ping=True, connect_args=waits)
    if url.database and url.database != ":memory:":
        _make_private(Path(url.database))
    engine = sa.create_engine(url, connect_args={"timeout": busy_seconds})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(file: Path) -> None:
    """Make the store's folder and its empty file, readable by their owner only."""
    folder = file.parent
    try:
        private_folder(folder)
    except OSError as error:
        raise UnreachableError(
            f"the store's folder {folder} can't be created: {error.strerror}. Check your "
            "permissions on the parent folder, or `url` of [store] in headgate.toml"
        ) from None
    # SQLite gives its journals the mode of the file.
    with suppress(OSError):
        for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
            if name == file.name or (folder / name).exists():
                private_file(folder / name)


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # The driver's own BEGIN comes too late and is never IMMEDIATE: we send it ourselves.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    # The journal must have reached the disk before an effect begins.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def _ours(url: sa.URL) -> Iterator[None]:
    """Turn the database's errors into ours; the message names the store, without a password."""
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError) as error:
        raise unusable(url, url.get_backend_name() == "sqlite", error.orig) from error
    except sa.exc.DatabaseError as error:
        raise StoreError(f"database error in the store {url}: {error.orig}") from error
