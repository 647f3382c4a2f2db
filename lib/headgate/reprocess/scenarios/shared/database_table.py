"""Results in a table of a database: which table, what of it fits the results, and the risks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from headgate.errors import RefusedError
from headgate.model.tables import DatabaseTable, TableColumn, values_of
from headgate.reprocess.scenario import PlanRequest
from headgate.text.numbers import instead, name_list
from headgate.text.risk import Risk

JDBC = "jdbc:"
_ADDRESS = re.compile(
    r'(?P<name>[\w-]+)\.(?P<table>(?:[\w$]+|"[^"]+")(?:\.(?:[\w$]+|"[^"]+"))?)', re.ASCII
)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXTS = frozenset({"json", "jsonb", "uuid", "xml", "inet", "cidr", "citext"})
_WHOLE = frozenset({"int2", "int4", "int8", "numeric"})
# By the type of a result, the database's types that take each of its values, or fail.
_FITS: Mapping[str, frozenset[str]] = {
    "tinyint": _WHOLE | {"float4", "float8"},
    "smallint": _WHOLE | {"float4", "float8"},
    "int": _WHOLE | {"float8"},
    "bigint": _WHOLE,
    "float": frozenset({"float4", "float8"}),
    "double": frozenset({"float8"}),
    "boolean": frozenset({"bool"}),
    "binary": frozenset({"bytea"}),
    "date": frozenset({"date"}),
    "timestamp": frozenset({"timestamptz", "timestamp"}),
    "timestamp_ntz": frozenset({"timestamp"}),
}


def target_table(request: PlanRequest) -> tuple[DatabaseTable | None, list[str]]:
    """Return the table that --to names, or why there is none."""
    found = _address(request)
    if found is None:
        return None, [
            f"--to: {request.options['to']} isn't a table. Write jdbc:NAME.TABLE or "
            "jdbc:NAME.SCHEMA.TABLE, with a NAME that headgate.toml declares as [jdbc.NAME]"
        ]
    name, table = found
    known = request.inspector.tables.databases()
    if name not in known:
        said = instead(name, known)
        if not said.endswith("?"):
            said += f". Add [jdbc.{name}] with `url`, `user` and `password`, or correct --to"
        return None, [f"--to: headgate.toml declares no database [jdbc.{name}]{said}"]
    try:
        there = request.inspector.tables.table(name, table)
    except RefusedError as error:
        return None, [f"--to: {error}"]
    if there is None:
        return None, [f"--to: database {name} has no table {table}. Check the name and its schema"]
    return there, []


def known_table(request: PlanRequest) -> DatabaseTable:
    """Return the table that was there before; RefusedError if it is gone."""
    table, _ = target_table(request)
    if table is None:
        raise RefusedError(
            f"table {request.options['to']} was just dropped. Run `headgate plan` again"
        )
    return table


def _address(request: PlanRequest) -> tuple[str, str] | None:
    found = _ADDRESS.fullmatch(str(request.options["to"]).removeprefix(JDBC))
    return (found["name"], found["table"]) if found else None


def database_of(request: PlanRequest) -> str | None:
    """Return the database that --to names, None if --to names none."""
    found = _address(request)
    return found[0] if found else None


def title_of(table: DatabaseTable) -> str:
    """Return what sentences call it."""
    return f"{table.title} of database {table.connection}"


def table_columns(
    results: Mapping[str, str], table: DatabaseTable
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return which value goes to which column, and what doesn't fit.

    `results` are the types of the results' columns, in Spark's words.
    """
    columns, blockers = [], []
    for name, path, kind in values_of(results, table.column_names):
        there = table.column(name)
        if there is None:
            blockers.append(
                f"--to: {table.title} has no column {name}, which the results need. Add the "
                "column, or pass another table"
            )
            continue
        form = _form(kind, there)
        if form is None or there.is_computed:
            why = f"is {there.type}, but the results have {kind}. Change the type of the column"
            if there.is_computed:
                why = "is computed by the database, so Headgate can't write it. Pass another table"
            blockers.append(f"--to: column {name} of {table.title} {why}")
            continue
        columns.append({"name": name, "path": list(path), "form": form, "type": there.type})
    return columns, blockers


def _form(kind: str, column: TableColumn) -> str | None:
    """Return how a value of a Spark type is written to a column, None if it doesn't fit."""
    if kind.startswith(("struct<", "array<", "map<")):
        return "json" if column.kind in ("json", "jsonb") else None
    if found := _DECIMAL.fullmatch(kind):
        # The database would round the digits after the point.
        exact = column.scale is None or column.scale >= int(found[2])
        return "value" if column.kind == "numeric" and exact else None
    if kind.startswith(("string", "varchar", "char")):
        return "value" if column.category in ("S", "E") or column.kind in _TEXTS else None
    if column.kind not in _FITS.get(kind, frozenset()):
        return None
    if column.kind == "numeric" and column.scale is not None and column.scale < 0:
        return None
    return "local-time" if column.kind == "timestamp" else "value"


def without_value(results: Mapping[str, str], table: DatabaseTable) -> list[str]:
    """Return the columns that need a value, but get none from the results."""
    written = written_names(results, table)
    needed = [c.name for c in table.columns if not c.is_filled and not c.is_computed]
    absent = [name for name in needed if name not in written]
    if not absent:
        return []
    return [
        f"--to: the results have no values for these columns of {table.title}, which can't be "
        f"null: {name_list(absent)}. Set a default for each column"
    ]


def written_names(results: Mapping[str, str], table: DatabaseTable) -> Collection[str]:
    """Return the columns of the table that the results have values for."""
    return {name for name, _, _ in values_of(results, table.column_names)}


WRITERS_WAIT = Risk(
    "other writers of {table} wait while the run replaces rows. SELECT statements don't wait"
)
UNDO_TABLES = Risk(
    "for an undo, the run creates two tables in schema {schema}: headgate_before_RUN with the "
    "old rows, and headgate_after_RUN with the keys of the new rows (RUN is the run id). "
    "Headgate drops both tables together with old snapshots (`headgate runs --clean`)"
)
NO_TIME_ZONE = Risk(
    "these columns of {table} have no time zone: {columns}. The run writes times in the time "
    "zone of spark.sql.session.timeZone"
)
NO_VALUES = Risk(
    "the results have no values for these columns: {columns}. Replaced rows keep their old "
    "values in these columns. If the key of a result changes, for example the start of a "
    "session, the result is a new row with default values"
)
TRIGGERS = Risk(
    "the run and its undo fire triggers of {table}: {triggers}. If a trigger drops a result "
    "or changes its values, the run fails and changes nothing. If triggers change other "
    "columns, an undo may be blocked. An undo doesn't restore what triggers write to other "
    "tables"
)


def table_risks(table: DatabaseTable, columns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what comes of a run that replaces rows of a table."""
    title, columns = table.title, list(columns)
    risks = [
        WRITERS_WAIT(table=title),
        UNDO_TABLES(schema=table.schema),
    ]
    if written := [c["name"] for c in columns if c["form"] == "local-time"]:
        risks.append(NO_TIME_ZONE(table=title, columns=name_list(written)))
    kept = [c.name for c in table.columns if not c.is_computed]
    if others := set(kept) - {c["name"] for c in columns}:
        risks.append(NO_VALUES(columns=name_list(others)))
    if table.triggers:
        risks.append(TRIGGERS(table=title, triggers=name_list(table.triggers)))
    return risks


RISKS = (
    WRITERS_WAIT,
    UNDO_TABLES,
    NO_TIME_ZONE,
    NO_VALUES,
    TRIGGERS,
)
