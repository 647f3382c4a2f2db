"""Results of a range in a database table: they replace the rows with the same keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headgate.model.tables import DatabaseTable
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import database_table
from headgate.reprocess.scenarios.shared.database_table import (
    known_table,
    table_columns,
    table_risks,
    target_table,
    title_of,
    without_value,
    written_names,
)
from headgate.reprocess.scenarios.shared.written_results import Target
from headgate.reprocess.steps.outputs.stage_rows import StageRows, TargetTable, rights_and_keys
from headgate.reprocess.steps.outputs.upsert_rows import UpsertRows
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


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
    there, blockers = target_table(request)
    if there is None:
        return blockers
    return [*asked, *(rights_and_keys(there, keys) if keys else [])]


def keys_of(request: PlanRequest) -> tuple[str, ...]:
    """Return the columns of --keys."""
    given = request.options.get("keys", ())
    return tuple(dict.fromkeys(k.strip() for one in given for k in one.split(",") if k.strip()))


def into_table(request: PlanRequest, what: Mapping[str, Any], found: EventTimes) -> Target:
    """Return the steps and what the plan says, with the columns that don't fit as blockers."""
    table, keys = known_table(request), keys_of(request)
    results = dict(zip(found.columns, found.types, strict=True))
    columns, blockers = table_columns(results, table)
    blockers += [*_missing_keys(results, table, keys), *without_value(results, table)]
    target = TargetTable.of(table, keys, columns)
    title = title_of(table)
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


def _missing_keys(
    results: Mapping[str, str], table: DatabaseTable, keys: tuple[str, ...]
) -> list[str]:
    """Return the keys that results lack."""
    written = written_names(results, table)
    return [
        f"--keys: the results have no column {key}. Their columns: {name_list(written)}"
        for key in keys
        if key not in written and table.column(key) is not None
    ]


ROWS_WITHOUT_RESULT_KEPT = Risk(
    "a row of {table} is kept if no new result has its keys, even if the row is in the range"
)
CASCADES = Risk(
    "an undo deletes the rows that the run added. The database then also deletes or changes "
    "rows that refer to them by foreign key, in {other_tables}"
)


def _risks(table: DatabaseTable, columns: Iterable[Mapping[str, Any]]) -> list[str]:
    title = table.title
    risks = [
        ROWS_WITHOUT_RESULT_KEPT(table=title),
        *table_risks(table, columns),
    ]
    if table.cascades:
        risks.append(CASCADES(other_tables=name_list(table.cascades)))
    return risks


RISKS = (
    ROWS_WITHOUT_RESULT_KEPT,
    CASCADES,
    *database_table.RISKS,
)
