"""A PostgreSQL server of a scene, with the table `counts` of results by window and city."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

from support.postgres_server import running_postgres

TO = "--to=jdbc:scene.counts"


class SceneTable:
    """The table and its rows; `start` makes both."""

    def __init__(self) -> None:
        self._server = ExitStack()
        self._connection: psycopg.Connection | None = None
        self.old: list[tuple[Any, ...]] = []

    def start(self, config: Path, rows: Iterable[tuple[float, str, int]]) -> None:
        """Make the table with rows of times, cities and counts, and declare its database."""
        postgres = self._server.enter_context(running_postgres())
        database = postgres.database().rpartition("/")[2]
        self._connection = self._server.enter_context(postgres.connect(database))
        self._connection.execute(
            "CREATE TABLE counts (begin timestamptz, city text, n bigint, note text DEFAULT 'new', "
            "UNIQUE (begin, city))"
        )
        with self._connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO counts VALUES (to_timestamp(%s), %s, %s, 'kept')", list(rows)
            )
        self.old = self.rows()
        port = self._connection.info.port
        with config.open("a") as file:
            file.write(f'[jdbc.scene]\nurl = "jdbc:postgresql://127.0.0.1:{port}/{database}"\n')
            file.write('user = "headgate"\n')

    def rows(self) -> list[Any]:
        """Return window, city, count and note of each row, in order."""
        assert self._connection is not None
        return self._connection.execute("SELECT * FROM counts ORDER BY 1, 2").fetchall()

    def check_undone(self) -> None:
        """The table is as it was, and the run's tables are gone."""
        assert self.rows() == self.old
        query = "SELECT relname FROM pg_class WHERE relname LIKE 'headgate%'"
        assert self._connection is not None
        assert not self._connection.execute(query).fetchall()

    def close(self) -> None:
        """End the server."""
        self._server.close()
