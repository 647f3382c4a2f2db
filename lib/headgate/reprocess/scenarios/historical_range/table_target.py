"""Results of a range in a database table: they replace the rows with the same keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from headgate.errors import RefusedError
from headgate.model.tables import DatabaseTable, TableColumn
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.historical_range.written_results import Target
from headgate.reprocess.steps.outputs.stage_rows import StageRows, TargetTable, rights_and_keys
from headgate.reprocess.steps.outputs.upsert_rows import UpsertRows
from headgate.text.numbers import instead, name_list

JDBC = "jdbc:"
_ADDRESS = re.compile(
    r'(?P<name>[\w-]+)\.(?P<table>(?:[\w$]+|"[^"]+")(?:\.(?:[\w$]+|"[^"]+"))?)', re.ASCII
)
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_WINDOWS = {f"struct<start:{kind},end:{kind}>": kind for kind in ("timestamp", "timestamp_ntz")}
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


def table_blockers(request: PlanRequest) -> list[str]:
    """Return why rows of the table can't be replaced, as far as the database says."""
    asked = [
        f"--{option}: not available if --to is a table. Omit the option"
        for option in ("replace", "file-format", "append")
        if option in request.options
    ]
    keys = keys_of(request)
    if not keys:
        asked.append("--keys: required if --to is a table. Pass the columns that identify a row")
    found = _address(request)
    if found is None:
        return [
            f"--to: {request.options['to']} isn't a table. Write jdbc:NAME.TABLE or "
            "jdbc:NAME.SCHEMA.TABLE, with a NAME that headgate.toml declares as [jdbc.NAME]"
        ]
    name, table = found
    known = request.inspector.tables.databases()
    if name not in known:
        said = instead(name, known)
        return [f"--to: headgate.toml declares no database [jdbc.{name}]{said}"]
    try:
        there = request.inspector.tables.table(name, table)
    except RefusedError as error:
        return [f"--to: {error}"]
    if there is None:
        return [f"--to: database {name} has no table {table}. Check the name and its schema"]
    return [*asked, *(rights_and_keys(there, keys) if keys else [])]


def keys_of(request: PlanRequest) -> tuple[str, ...]:
    """Return the columns of --keys."""
    given = request.options.get("keys", ())
    return tuple(dict.fromkeys(k.strip() for one in given for k in one.split(",") if k.strip()))


def _address(request: PlanRequest) -> tuple[str, str] | None:
    found = _ADDRESS.fullmatch(str(request.options["to"]).removeprefix(JDBC))
    return (found["name"], found["table"]) if found else None


def into_table(request: PlanRequest, what: Mapping[str, Any], found: EventTimes) -> Target:
    """Return the steps and what the plan says, with the columns that don't fit as blockers."""
    address = _address(request)
    assert address is not None
    table = request.inspector.tables.table(*address)
    if table is None:
        raise RefusedError(f"table {address[1]} was just dropped. Run `headgate plan` again")
    keys = keys_of(request)
    results = dict(zip(found.columns, found.types, strict=True))
    columns, blockers = _columns(results, table)
    blockers += _left_out({name for name, _, _ in _values(results, table)}, table, keys)
    target = TargetTable(
        connection=table.connection,
        schema=table.schema,
        table=table.name,
        id=table.id,
        keys=keys,
        columns=tuple(columns),
    )
    title = f"{table.title} of database {table.connection}"
    process = StageRows(target=target, **{**what, "stream": _stream(what, columns)})
    return Target(
        steps=(process, UpsertRows(target=target)),
        resources=(f"table:{table.connection}.{table.title}",),
        outputs=OutputEffects(
            run=(
                f"The run replaces rows of {title} that have the same keys as its results. It adds "
                "all other results as new rows.",
            ),
            undo=(f"An undo deletes the added rows of {title}, and restores the replaced rows.",),
        ),
        risks=tuple(_risks(table, columns)),
        blockers=tuple(blockers),
    )


def _stream(what: Mapping[str, Any], columns: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return how a stream is processed, with its keys as the results name them."""
    stream: dict[str, Any] | None = what.get("stream")
    if stream is None:
        return None
    paths = {c["name"]: ".".join(c["path"]) for c in columns}
    return {**stream, "keys": [paths.get(key, key) for key in stream["keys"]]}


def _columns(
    results: Mapping[str, str], table: DatabaseTable
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return which value goes to which column, and what doesn't fit."""
    columns, blockers = [], []
    for name, path, kind in _values(results, table):
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


def _values(
    results: Mapping[str, str], table: DatabaseTable
) -> Iterable[tuple[str, tuple[str, ...], str]]:
    """Yield the column, path and type of each value; a window has two, unless its column is json.

    Its end is left out if the table has no column for it: the start says it.
    """
    for name, kind in results.items():
        time = _WINDOWS.get(kind)
        if time is None or table.column(name) is not None:
            yield name, (name,), kind
            continue
        yield f"{name}_start", (name, "start"), time
        if table.column(f"{name}_end") is not None:
            yield f"{name}_end", (name, "end"), time


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


def _left_out(written: Collection[str], table: DatabaseTable, keys: tuple[str, ...]) -> list[str]:
    """Return the keys that results lack, and the columns that need a value."""
    found = [
        f"--keys: the results have no column {key}. Their columns: {name_list(written)}"
        for key in keys
        if key not in written and table.column(key) is not None
    ]
    needed = [c.name for c in table.columns if not c.is_filled and not c.is_computed]
    if absent := [name for name in needed if name not in written]:
        found.append(
            f"--to: the results have no values for these columns of {table.title}, which can't be "
            f"null: {name_list(absent)}. Set a default for each column"
        )
    return found


def _risks(table: DatabaseTable, columns: Iterable[Mapping[str, Any]]) -> list[str]:
    title = table.title
    risks = [
        f"rows of {title} that no new result replaces are kept, even if they are in the range",
        f"while rows are replaced, other writers of {title} wait. SELECT statements don't wait",
        f"for an undo, {table.schema}.headgate_before_RUN has the replaced rows, and "
        "headgate_after_RUN has the keys of the new rows. Drop both tables once you no longer need "
        "the undo",
    ]
    if written := [c["name"] for c in columns if c["form"] == "local-time"]:
        risks.append(
            f"these columns of {title} have no time zone: {name_list(written)}. The run writes "
            "times in the time zone of spark.sql.session.timeZone"
        )
    kept = [c.name for c in table.columns if not c.is_computed]
    if others := set(kept) - {c["name"] for c in columns}:
        risks.append(
            f"the results have no values for these columns: {name_list(others)}. Replaced rows "
            "keep their old values in these columns"
        )
    if table.triggers:
        risks.append(
            f"the run and its undo fire triggers of {title}: {name_list(table.triggers)}. If the "
            "triggers change rows, an undo may be blocked"
        )
    if table.cascades:
        risks.append(
            "an undo deletes the rows that the run added. The database then also deletes or "
            f"changes rows that refer to them by foreign key, in {name_list(table.cascades)}"
        )
    return risks
