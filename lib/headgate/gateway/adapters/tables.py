"""What plans and runs do with tables of databases."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.postgres import replace_rows, restore_rows
from headgate.gateway.postgres.connect import connected
from headgate.gateway.postgres.describe_table import describe_table
from headgate.model.tables import DatabaseTable, LaterChanges, RowCounts, TableChange


class TableAdapter:
    """Tables of the databases that headgate.toml declares as `[jdbc.NAME]`."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def databases(self) -> tuple[str, ...]:
        """Return the names of the declared databases."""
        return tuple(self._context.registry.jdbc)

    def table(self, connection: str, name: str) -> DatabaseTable | None:
        """Return a table, None if there is none; see the port."""
        with self._connected(connection) as open_one:
            return describe_table(open_one, connection, name)

    def oldest_transaction(self, connection: str) -> int:
        """Return the oldest transaction that is open, else the next one; see the port."""
        with self._connected(connection) as open_one:
            return replace_rows.oldest_transaction(open_one)

    def later_changes(self, change: TableChange) -> LaterChanges | None:
        """Return what was changed since the run wrote its rows; see the port."""
        with self._connected(change.connection) as open_one:
            return restore_rows.later_changes(open_one, change)

    def stage(self, change: TableChange) -> None:
        """Create the empty tables for results and touched keys."""
        with self._connected(change.connection) as open_one:
            replace_rows.stage(open_one, change)

    def staged_rows(self, change: TableChange) -> int:
        """Return how many rows the table for results has."""
        with self._connected(change.connection) as open_one:
            return replace_rows.staged_rows(open_one, change)

    def is_replaced(self, change: TableChange) -> bool:
        """Return whether the results are in the table."""
        with self._connected(change.connection) as open_one:
            return replace_rows.exists(open_one, change, change.after)

    def replace_rows(self, change: TableChange) -> RowCounts | None:
        """Put the staged rows in place in one transaction; see the port."""
        with self._connected(change.connection) as open_one:
            counts = replace_rows.replace_rows(open_one, change)
        if counts is not None:
            # As of a folder: all old rows of the keys, also those that no result replaces.
            facts = {"replaced": counts.replaced + counts.deleted}
            told = {"program": "replace_rows", "outcome": "done", "facts": facts}
            self._context.keep("job", told)
        return counts

    def is_restored(self, change: TableChange) -> bool:
        """Return whether the rows are as before the run, or were never replaced."""
        with self._connected(change.connection) as open_one:
            return restore_rows.is_restored(open_one, change)

    def restore_rows(self, change: TableChange) -> None:
        """Delete the added rows and restore the replaced and deleted ones; see the port."""
        with self._connected(change.connection) as open_one:
            restore_rows.restore_rows(open_one, change)

    def drop(self, connection: str, schema: str, names: tuple[str, ...]) -> None:
        """Drop tables that a run has created."""
        with self._connected(connection) as open_one:
            replace_rows.drop(open_one, schema, names)

    def _connected(self, name: str) -> AbstractContextManager[Any]:
        return connected(name, self._context.registry.jdbc.get(name))
