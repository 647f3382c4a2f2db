"""Have Spark run a pipeline's function over a range of records, into a table of the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.model.tables import DatabaseTable, TableChange
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import SparkJob
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.outputs.process_records import (
    DeleteResults,
    Processing,
    forget_stream,
)
from headgate.text.numbers import as_records, name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTable:
    """The table that results go to, as it was when the plan was made.

    `connection` is the NAME of `[jdbc.NAME]`. `columns` are those that results have, each with its
    `type`, and the `path` and `form` of its value in a result (`spark_jobs.data.write_table`).
    `keys` identify a row. A run that recomputes all results of some keys deletes the rows of these
    keys that it has no result for: `touched_by` are the columns of these keys. It fails if
    `oldest_transaction`, or a later one, wrote such rows.
    """

    connection: str
    schema: str
    table: str
    id: str
    keys: tuple[str, ...]
    columns: tuple[dict[str, Any], ...]
    touched_by: tuple[str, ...] = ()
    oldest_transaction: int = 0

    @classmethod
    def of(
        cls,
        table: DatabaseTable,
        keys: tuple[str, ...],
        columns: Iterable[dict[str, Any]],
        touched_by: tuple[str, ...] = (),
        oldest_transaction: int = 0,
    ) -> Self:
        """Return the table as it is now."""
        return cls(
            connection=table.connection,
            schema=table.schema,
            table=table.name,
            id=table.id,
            keys=keys,
            columns=tuple(columns),
            touched_by=touched_by,
            oldest_transaction=oldest_transaction,
        )

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return f"{self.schema}.{self.table}"

    @property
    def name(self) -> str:
        """Its name as the database takes it."""
        return f'"{self.schema}"."{self.table}"'

    def change(self, run: str) -> TableChange:
        """Return what a run does to it, with the names of the run's own tables."""
        suffix = run.replace("-", "_")
        return TableChange(
            connection=self.connection,
            schema=self.schema,
            table=self.table,
            table_id=self.id,
            keys=self.keys,
            written=tuple(str(c["name"]) for c in self.columns),
            staged=f"headgate_staged_{suffix}",
            before=f"headgate_before_{suffix}",
            after=f"headgate_after_{suffix}",
            touched=f"headgate_touched_{suffix}" if self.touched_by else "",
            touched_by=self.touched_by,
            oldest_transaction=self.oldest_transaction,
        )

    def check(self, inspector: Inspector) -> None:
        """Refuse where the table is another one now, or can't be written to any more."""
        found = inspector.tables.table(self.connection, self.name)
        if found is None or found.id != self.id:
            raise StalePlanError(
                f"table {self.title} was dropped or created again since the plan was made. Run "
                "`headgate plan` again"
            )
        reasons = rights_and_keys(found, self.keys)
        if reasons := [*reasons, *(cascades(found) if self.touched_by else ())]:
            raise RefusedError(reasons[0])
        for column in self.columns:
            there = found.column(column["name"])
            if there is None or there.type != column["type"]:
                raise StalePlanError(
                    f"column {column['name']} of {self.title} changed since the plan was made. "
                    "Run `headgate plan` again"
                )


def cascades(table: DatabaseTable) -> list[str]:
    """Return why no row may be deleted: an undo can't restore what goes with it."""
    if not table.cascades:
        return []
    return [
        f"--to: if the run deletes rows of {table.title}, foreign keys make the database delete or "
        f"change rows of {name_list(table.cascades)}, too. An undo can't restore these rows. Pass "
        "a table without such foreign keys"
    ]


def rights(table: DatabaseTable) -> list[str]:
    """Return why this user can replace no row of a table."""
    found = list(table.obstacles)
    if table.missing:
        found.append(
            f"the user of [jdbc.{table.connection}] lacks {name_list(table.missing)}. Grant these "
            "privileges, or declare another user"
        )
    return found


def rights_and_keys(table: DatabaseTable, keys: tuple[str, ...]) -> list[str]:
    """Return why no row of a table can be replaced by these keys."""
    found = rights(table)
    if absent := [key for key in keys if table.column(key) is None]:
        names = name_list(c.name for c in table.columns)
        found.append(f"--keys: {table.title} has no column {absent[0]}. Its columns: {names}")
    elif frozenset(keys) not in table.unique:
        known = "; ".join(sorted(", ".join(sorted(u)) for u in table.unique))
        found.append(
            f"--keys: {table.title} has no unique index on {', '.join(keys)}. Create this index, "
            f"or pass the columns of an existing index{f': {known}' if known else ''}"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRows(Processing):
    """Process the records and write the results to a staging table next to the target table.

    A killed run starts again with an empty table. Spark's tasks write to it by themselves, so the
    rows are counted at the end.
    """

    action: ClassVar[str] = "stage_rows"
    target: TargetTable

    def describe(self) -> str:
        return (
            f"process {as_records(self.records)} of {', '.join(sorted(self.offsets))} with "
            f"{self.entry_point}{self.how}, and write the results to a staging table for "
            f"{self.target.title}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the table isn't as planned, too."""
        Processing.check(self, inspector, again=again)
        self.target.check(inspector)

    def bind(self, applier: Applier) -> PriorState:
        """Decide the name of the table, and the checkpoint of a stream."""
        beside = f"{applier.folders.snapshot_folder()}/{self.target.table}"
        return {"run": applier.run, **self.stream_folder(beside, applier.run)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Create the table, run the program, and count what came."""
        change = self.target.change(was["run"])
        applier.tables.stage(change)
        columns = [{k: c[k] for k in ("name", "path", "form")} for c in self.target.columns]
        beside = f'jdbc:{change.connection}."{change.schema}"'
        given = ["--to", f'{beside}."{change.staged}"', "--columns", json.dumps(columns)]
        if change.touched:
            given += ["--touched", f'{beside}."{change.touched}"']
        written = self.work(applier, *given, folder=was.get("stream"))
        found = applier.tables.staged_rows(change)
        if found != written:
            raise StepError(
                f"staging table {change.schema}.{change.staged} has {plural(found, 'row')}, but "
                f"the run wrote {written}: Spark repeated a task. Resume the run"
            )
        forget_stream(applier, was)

    def job(self, *target: str) -> SparkJob:
        """Return the program with the database that it writes to."""
        return replace(Processing.job(self, *target), database=self.target.connection)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The rows were counted."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Drop the tables of the run; if it ran as a stream, delete its checkpoint."""
        change = self.target.change(was["run"])
        folders = filter(None, (was.get("stream"),))
        return (_drop(change, *change.own), *(DeleteResults(folder=f) for f in folders))


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables(StepBase):
    """Drop tables that a run has created for itself."""

    action: ClassVar[str] = "drop_tables"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    connection: str
    schema: str
    tables: tuple[str, ...]

    def describe(self) -> str:
        word = "table" if len(self.tables) == 1 else "tables"
        return f"drop {word} {name_list(f'{self.schema}.{name}' for name in self.tables)}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Drop them."""
        applier.tables.drop(self.connection, self.schema, self.tables)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The server has answered."""


def _drop(change: TableChange, *names: str) -> DropTables:
    return DropTables(connection=change.connection, schema=change.schema, tables=names)


def drop_backup(change: TableChange) -> DropTables:
    """Return the step that drops what an undo has needed."""
    return _drop(change, change.before, change.after)


def change_of(was: Mapping[str, Any]) -> TableChange:
    """Return the change that a journal holds."""
    lists = {name: tuple(was[name]) for name in ("keys", "written", "touched_by") if name in was}
    return TableChange(**{**was, **lists})
