"""Tables of databases, as plans read and steps change them."""

from __future__ import annotations

from typing import Protocol

from headgate.model.tables import DatabaseTable, LaterChanges, RowCounts, TableChange


class TableInspector(Protocol):
    """What a plan may ask of them; no answer is cached. UnreachableError: no server answers."""

    def databases(self) -> tuple[str, ...]:
        """Return the names of the databases that headgate.toml declares."""

    def table(self, connection: str, name: str) -> DatabaseTable | None:
        """Return a table, None if there is none; `name` may have the schema.

        RefusedError: the declared database can't be written to, or not by these settings.
        """

    def oldest_transaction(self, connection: str) -> int:
        """Return the number of the oldest transaction that is open, else of the next one.

        What has a lower number had ended.
        """

    def later_changes(self, change: TableChange) -> LaterChanges | None:
        """Return what was changed since the run wrote its rows.

        None if it wrote none. RefusedError if the tables that an undo needs are gone.
        """


class TableApplier(TableInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def stage(self, change: TableChange) -> None:
        """Create the empty tables for results and touched keys; those of an earlier try go."""

    def staged_rows(self, change: TableChange) -> int:
        """Return how many rows the table for results has."""

    def is_replaced(self, change: TableChange) -> bool:
        """Return whether the results are in the table."""

    def replace_rows(self, change: TableChange) -> RowCounts | None:
        """Upsert the staged rows in one transaction, and keep the rows that they replace.

        Rows of touched keys without a staged row are deleted, and kept, too. The staged rows go
        with it. None if an earlier try did it. RefusedError if two results have the same key, a
        key is null, a row of a key that isn't touched would be replaced, or somebody has written
        rows of touched keys since `oldest_transaction`: then nothing was written.
        """

    def is_restored(self, change: TableChange) -> bool:
        """Return whether the rows are as before the run, or were never replaced."""

    def restore_rows(self, change: TableChange) -> None:
        """Delete the added rows and restore the replaced and deleted ones, in one transaction.

        RefusedError, and nothing is restored, if one was changed since.
        """

    def drop(self, connection: str, schema: str, names: tuple[str, ...]) -> None:
        """Drop tables that a run has created; fine if they are gone."""
