"""Migrate the store's tables to this program's revision, one process at a time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from headgate.errors import StoreError, UnreachableError
from headgate.store.database import Database
from headgate.store.lock_file import open_lock

FIRST, HEAD = "0007", "0011"
"""The oldest revision that this program upgrades, and the revision that it creates."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_ADVISORY_LOCK = 0x48454144
_WAIT_SECONDS = 60.0


def migrate(database: Database) -> None:
    """Run the migrations that are missing.

    StoreError if the store is newer than the program, or older than its first migration.
    """
    if _revision(database) == HEAD:
        return
    with _lock(database):
        revision = _revision(database)
        if revision == HEAD:
            return
        if revision is not None and not FIRST <= revision < HEAD:
            raise StoreError(_other_release(database, revision))
        with database.writing() as connection:
            _upgrade(connection)


def _other_release(database: Database, revision: str) -> str:
    if revision > HEAD:
        return (
            f"the store {database.url} has schema revision {revision}, but this Headgate supports "
            f"only revisions up to {HEAD}: update Headgate"
        )
    # SQLite's files beside it belong to the old one: a new store must not read them.
    other = "set `[store] url` in headgate.toml to an empty database"
    way = f"move {database.path}* to another folder, or {other}" if database.path else other
    return (
        f"the store {database.url} is from an older Headgate (schema revision {revision}) and "
        f"can't be upgraded: upgrades start at revision {FIRST}. To start with a new store, {way}"
    )


def _revision(database: Database) -> str | None:
    with database.reading() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return str(found) if found is not None else None


def _upgrade(connection: Connection) -> None:
    # Imported here: a store that is up to date does not pay for it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


@contextmanager
def _lock(database: Database) -> Iterator[None]:
    """Hold the migration's lock: a file's on SQLite, an advisory one on PostgreSQL."""
    if database.path is not None:
        with _file_lock(database.path.with_name(database.path.name + ".migrate.lock")):
            yield
    elif database.is_postgres:
        # Of the transaction: whatever happens, it goes with it, and does not stay in the pool.
        with database.reading() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
            yield
    else:
        yield


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    handle = open_lock(path)
    try:
        _wait_for(handle, path)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise UnreachableError(
                    f"another process is migrating the store (lock file {path}). Wait until the "
                    "migration has finished, then try again"
                ) from None
            time.sleep(0.05)
