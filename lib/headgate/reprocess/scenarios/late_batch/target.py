"""Where the results of touched keys are replaced: in a folder of files, or in a database table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.errors import RefusedError
from headgate.model.tables import DatabaseTable
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import folder_resource
from headgate.reprocess.ports.spark_jobs import LateTouch
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import database_table
from headgate.reprocess.scenarios.shared.database_table import (
    JDBC,
    database_of,
    known_table,
    table_columns,
    table_risks,
    target_table,
    title_of,
    without_value,
    written_names,
)
from headgate.reprocess.scenarios.shared.processed_records import replaced_blockers
from headgate.reprocess.scenarios.shared.written_results import Target
from headgate.reprocess.steps.outputs.install_results import InstallResults
from headgate.reprocess.steps.outputs.replace_results import ReplaceResults, StageLateRows
from headgate.reprocess.steps.outputs.stage_rows import TargetTable, cascades, rights
from headgate.reprocess.steps.outputs.upsert_rows import UpsertRows
from headgate.text.numbers import name_list, plural, size
from headgate.text.risk import Risk

# The option that holds what a plan knew of the database.
OLDEST = "oldest-transaction"
# The same value may look different in these: `{"a":null}` is `{}` once Spark has written it.
_AMBIGUOUS = frozenset({"json", "jsonb", "xml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OldResults:
    """The results before the run, as the measuring program takes them.

    `address` is FORMAT:PATH or jdbc:NAME.TABLE. `contents` are hashes of folders, `known` also
    what says that rows of a table were written. `database` is the NAME of `[jdbc.NAME]`. Of a
    table, `oldest_transaction` was open, or the next one, before the offsets were looked up.
    """

    address: str
    contents: Mapping[str, str]
    known: Mapping[str, str]
    database: str | None = None
    oldest_transaction: int = 0


def is_table(request: PlanRequest) -> bool:
    """Return whether the results are in a table."""
    return str(request.options["to"]).startswith(JDBC)


def oldest_transaction(request: PlanRequest) -> int:
    """Return which transactions had ended: all before this one; 0 if the results are in a folder.

    To be asked before the offsets of the inputs: rows with results of later records are then known
    to be newer. A plan that is built again keeps the number, as it keeps the offsets.
    """
    if (given := request.options.get(OLDEST)) is not None:
        return int(given)
    name = database_of(request) if is_table(request) else None
    if name is None or name not in request.inspector.tables.databases():
        return 0
    try:
        return request.inspector.tables.oldest_transaction(name)
    except RefusedError:
        # The table can't be looked up, either: a blocker says why.
        return 0


def blockers_of_target(request: PlanRequest) -> list[str]:
    """Return why results can't be replaced where they are."""
    if not is_table(request):
        found = replaced_blockers(request, str(request.options["to"]))
        if OLDEST in request.options:
            found.append(f"--{OLDEST}: not available if --to is a folder. Omit the option")
        return found
    table, blockers = target_table(request)
    if table is None:
        return blockers
    found = [*rights(table), *cascades(table)]
    if "file-format" in request.options:
        found.append("--file-format: not available if --to is a table. Omit the option")
    return [*found, *([] if table.unique else [_no_index(table)])]


def old_results(request: PlanRequest, oldest: int) -> OldResults:
    """Return the results that are there now."""
    if not is_table(request):
        folder = str(request.options["to"])
        contents = {folder: request.inspector.sinks.content_hash(folder) or ""}
        address = f"{request.options.get('file-format', 'parquet')}:{folder}"
        return OldResults(address=address, contents=contents, known=contents)
    table = known_table(request)
    address = f'{JDBC}{table.connection}."{table.schema}"."{table.name}"'
    return OldResults(
        address=address,
        contents={},
        known={address: f"{table.id} {table.content}"},
        database=table.connection,
        oldest_transaction=oldest,
    )


def target_of(
    request: PlanRequest, what: Mapping[str, Any], old: OldResults, touch: LateTouch
) -> Target:
    """Return the steps; `what` is what the processing for all kinds of targets takes."""
    if old.database is not None:
        return _table(known_table(request), what, touch, old.oldest_transaction)
    folder = str(request.options["to"])
    kind, content = old.address.partition(":")[0], old.contents[folder]
    process = ReplaceResults(format=kind, folder=folder, content=content, **what)
    return Target(
        steps=(process, InstallResults(folder=folder, replaces=True, replaced=content)),
        resources=(folder_resource(folder),),
        outputs=OutputEffects(
            run=(
                f"In {folder}, {touch.touched_rows} of {plural(touch.rows, 'result')} "
                f"{'is' if touch.touched_rows == 1 else 'are'} replaced or deleted. New results "
                "are added. The other results don't change.",
            ),
            undo=(f"An undo restores the earlier contents of {folder}.",),
        ),
        risks=(_rewritten_risk(folder, touch),),
    )


FILES_REWRITTEN = Risk(
    "the run replaces {folder} with a new folder: it rewrites {rewritten} of {files} "
    "({rewritten_bytes} of {bytes}), and hard-links the other files",
    rewritten="N",
    files="N files",
    rewritten_bytes="BYTES",
)


def _rewritten_risk(folder: str, touch: LateTouch) -> str:
    return FILES_REWRITTEN(
        folder=folder,
        rewritten=touch.touched_files,
        files=plural(touch.files, "file"),
        rewritten_bytes=size(touch.touched_bytes),
        bytes=size(touch.bytes),
    )


def _table(table: DatabaseTable, what: Mapping[str, Any], touch: LateTouch, oldest: int) -> Target:
    columns, blockers = table_columns(touch.types, table)
    blockers += without_value(touch.types, table)
    touched_by = tuple(c["name"] for c in columns if c["path"][0] in touch.columns)
    keys = unique_keys(table, written_names(touch.types, table), touched_by)
    if not blockers:
        blockers += _key_blockers(table, keys, touched_by, touch)
    target = TargetTable.of(table, keys, columns, touched_by, oldest)
    title = title_of(table)
    return Target(
        steps=(StageLateRows(target=target, **what), UpsertRows(target=target)),
        resources=(f"table:{table.connection}.{table.title}",),
        outputs=OutputEffects(
            run=(
                f"In {title}, the rows with keys of the late records (now {touch.touched_rows} "
                f"of {touch.rows} rows) are replaced or deleted. New results are added. The "
                "other rows don't change.",
            ),
            undo=(
                f"An undo deletes the added rows of {title}, and restores the replaced and "
                "deleted rows.",
            ),
        ),
        risks=(
            *_no_match(table, touch),
            *_table_risks(str(what["pipeline"]), table, columns),
        ),
        blockers=tuple(blockers),
    )


def unique_keys(
    table: DatabaseTable, written: Collection[str], touched_by: Iterable[str]
) -> tuple[str, ...]:
    """Return the columns of a unique index that identifies a result; () without such an index.

    One with the columns of the touched keys comes first: no result then has the key of a row that
    isn't touched.
    """
    touched = frozenset(touched_by)
    fitting = [u for u in table.unique if u <= frozenset(written)]
    best = min(fitting, key=lambda u: (not touched <= u, len(u), sorted(u)), default=frozenset())
    return tuple(name for name in table.column_names if name in best)


def _no_index(table: DatabaseTable) -> str:
    return (
        f"--to: {table.title} has no unique index whose columns are all in the results. Create a "
        "unique index on the columns that identify a result, for example the key and the window"
    )


def _key_blockers(
    table: DatabaseTable, keys: tuple[str, ...], touched_by: tuple[str, ...], touch: LateTouch
) -> list[str]:
    """Return why the rows of a touched key can't be found, or a result can't be identified."""
    if not keys:
        return [_no_index(table)]
    kinds = {c.name: c.kind for c in table.columns}
    found = [
        f"--keys: column {name} of {table.title} is {kinds[name]}, so Headgate can't find rows "
        "by this key: equal values may be written differently. Pass columns of other types with "
        "--keys"
        for name in touched_by
        if kinds[name] in _AMBIGUOUS
    ]
    if nulls := [name for name in touch.nulls if name in keys]:
        found.append(
            f"--late: results of late records have null in {name_list(nulls)}, so the unique index "
            f"of {table.title} doesn't identify them. Leave these records out of --late"
        )
    return found


NO_ROW_MATCHES = Risk(
    "no row of {table} has a key of the late records, so the run only adds rows. If the "
    "query's foreachBatch changes the keys, or the table has times of another time zone, the "
    "added rows are duplicates of existing rows. Compare the keys in the table with those of "
    "this plan"
)


def _no_match(table: DatabaseTable, touch: LateTouch) -> list[str]:
    """Return what follows if no row has one of the keys."""
    if touch.touched_rows or not touch.rows:
        return []
    return [NO_ROW_MATCHES(table=table.title)]


ROWS_DELETED = Risk(
    "the run deletes a row from {table} if the row has a key of the late records, but the "
    "query has no new result for the row"
)
WRITTEN_MEANWHILE = Risk(
    "if another program, such as {pipeline}, writes rows with keys of the late records after "
    "this plan was made, the run fails and changes nothing. The same applies to a transaction "
    "that was open when the plan was made. Stop the program, plan again, and restart the "
    "program after the run"
)


def _table_risks(
    pipeline: str, table: DatabaseTable, columns: Iterable[Mapping[str, Any]]
) -> list[str]:
    title = table.title
    return [
        ROWS_DELETED(table=title),
        WRITTEN_MEANWHILE(pipeline=pipeline),
        *table_risks(table, columns),
    ]


RISKS = (
    FILES_REWRITTEN,
    NO_ROW_MATCHES,
    ROWS_DELETED,
    WRITTEN_MEANWHILE,
    *database_table.RISKS,
)
