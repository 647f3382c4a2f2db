"""Rules about the output's fields: what downstream consumers find after the switch."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.state_schema import Field, Schema
from headgate.model.version import Sink
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.output_columns import (
    RECORD,
    OutputChange,
    OutputChangeKind,
    output_changes,
    same_place,
)
from headgate.rules.spark.facts.parsed_columns import shown_schema

_FROM_JSON = "https://spark.apache.org/docs/latest/api/sql/#from_json"
_MEASURED = "measured on Spark 4.2.0: batch reads of a file sink's directory"
_KEY = "https://kafka.apache.org/documentation/#design_compactionbasics"
_BINARY = ("to_avro", "to_protobuf")
_NUMBERS = frozenset(("byte", "short", "integer", "long"))


_FIND_THE_OUTPUTS = (
    "Find the output's consumers. Keep writing the field until no consumer needs it."
)


@rule("OUT001", _FROM_JSON, outcomes=(Outcome.RESUMES,), remedies=(_FIND_THE_OUTPUTS,))
def field_removed(c: Comparison) -> Iterator[RuleResult]:
    """The query resumes without the field, because the checkpoint doesn't record the sink.

    Consumers that read the field by name get null for new rows, or fail.
    """
    for change in _of(c, OutputChangeKind.GONE):
        yield _resumes(
            c,
            change,
            f"The output no longer has the field {change.name}.",
            _FIND_THE_OUTPUTS,
        )


_FIND_THE_OUTPUTS_CONSUMERS = (
    "Find the output's consumers. If the type must change, write a new field."
)


@rule("OUT002", _FROM_JSON, outcomes=(Outcome.RESUMES,), remedies=(_FIND_THE_OUTPUTS_CONSUMERS,))
def field_type(c: Comparison) -> Iterator[RuleResult]:
    """The query resumes with the new type, because the checkpoint doesn't record the sink.

    Consumers that expect the old type get null or wrong values for new rows, or fail.
    """
    for change in _of(c, OutputChangeKind.TYPE):
        yield _resumes(
            c,
            change,
            f"The type of the output field {change.name} changed.",
            _FIND_THE_OUTPUTS_CONSUMERS,
        )


_LET_CONSUMERS_THAT_JOIN = (
    "If consumers depend on the old value (for example on the key for joins, order or compaction), "
    "write to a new topic."
)


_OF_RECORD = {
    OutputChangeKind.GONE: "The output no longer has the column {name}.",
    OutputChangeKind.ADDED: "The output now has the column {name}.",
    OutputChangeKind.TYPE: "The type of the record's {name} changed.",
    OutputChangeKind.MADE: "The expression of the record's {name} changed.",
}


@rule("OUT003", _KEY, outcomes=(Outcome.RESUMES,), remedies=(_LET_CONSUMERS_THAT_JOIN,))
def record_key(c: Comparison) -> Iterator[RuleResult]:
    """New records may get another key, topic, partition or headers. Older records stay as they are.

    A record's key decides its partition, the order of records with the same key, and which older
    records compaction removes.
    """
    sink = c.after.sink
    if sink is None or sink.format != "kafka":
        return
    for change in output_changes(c.before, c.after):
        if change.column == "" and change.path in RECORD:
            yield _resumes(
                c,
                change,
                _OF_RECORD[change.kind].format(name=change.path),
                _LET_CONSUMERS_THAT_JOIN,
            )


_MAKE_SURE_THAT_THE_CHANGE = (
    "Make sure that the change is intended, and inform the output's consumers."
)


@rule(
    "OUT004",
    "inferred from how select() works: each expression defines one column; not measured",
    outcomes=(Outcome.RESUMES,),
    remedies=(_MAKE_SURE_THAT_THE_CHANGE,),
)
def column_source_changed(c: Comparison) -> Iterator[RuleResult]:
    """A column keeps its name and its type, but its values now come from a different column.

    Neither the engine nor a consumer can detect that.
    """
    for change in _of(c, OutputChangeKind.MADE):
        if change.path not in RECORD:
            yield _resumes(
                c,
                change,
                f"The output field {change.name} is computed from a different column.",
                _MAKE_SURE_THAT_THE_CHANGE,
            )


_ADD_COLUMNS_ONLY = (
    "Add columns only at the end, or write to a new directory with a new checkpoint."
)


@rule("OUT005", _MEASURED, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_ADD_COLUMNS_ONLY,))
def csv_column_positions_changed(c: Comparison) -> Iterator[RuleResult]:
    """CSV is read by the position of columns, not by their name.

    If a column was removed, inserted or moved, consumers read new rows into the wrong columns.
    """
    both = _one_format(c, "csv")
    if both is None:
        return
    old, new = ([f.name for f in s.fields] for s in both)
    if new[: len(old)] == old:
        return
    yield RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=c.sink_location,
        before=old,
        after=new,
        because="The positions of the columns in the CSV files changed.",
        remedy=_ADD_COLUMNS_ONLY,
    )


_GIVE_THE_COLUMN = (
    "Give the column another name, or write to a new directory with a new checkpoint."
)


@rule("OUT006", _MEASURED, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_GIVE_THE_COLUMN,))
def parquet_column_types_mixed(c: Comparison) -> Iterator[RuleResult]:
    """A directory of Parquet files is read with one schema.

    If a column is a number in some files and text in others, no schema can read all files.
    """
    both = _one_format(c, "parquet")
    if both is None:
        return
    old = {f.name: f for f in both[0].fields}
    for now in both[1].fields:
        was = old.get(now.name)
        if was is not None and _unreadable(was, now):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.NONE,
                location=c.sink_location,
                before=f"{was.name}: {was.type}",
                after=f"{now.name}: {now.type}",
                because=(
                    f"The column {now.name} is {was.type} in the old files and {now.type} in the "
                    "new files."
                ),
                remedy=_GIVE_THE_COLUMN,
            )


_GIVE_CONSUMERS_THE_NEW = "Give consumers the new schema first, or write to a new topic."


@rule(
    "OUT007",
    "https://avro.apache.org/docs/1.12.0/specification/#binary-encoding",
    outcomes=(Outcome.RESUMES,),
    remedies=(_GIVE_CONSUMERS_THE_NEW,),
)
def binary_layout(c: Comparison) -> Iterator[RuleResult]:
    """Spark's to_avro and to_protobuf write bytes without field names.

    A consumer that decodes them with the old schema fails, or reads wrong fields.
    """
    old, new = c.before.sink, c.after.sink
    if old is None or new is None or not same_place(old, new):
        return
    packed = {p.column: p for p in new.payloads}
    for was in old.payloads:
        now = packed.get(was.column)
        if now is None or was.writer != now.writer or was.writer not in _BINARY:
            continue
        if was.declared == now.declared and _layout(was.schema) == _layout(now.schema):
            continue
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=_effect(c),
            location=c.sink_location,
            before=shown_schema(was.declared) or _described(was.schema),
            after=shown_schema(now.declared) or _described(now.schema),
            because=f"The schema that {was.writer} uses for the column {was.column} changed.",
            rollback=Rollback.SAFE,
            remedy=_GIVE_CONSUMERS_THE_NEW,
        )


def _of(c: Comparison, kind: OutputChangeKind) -> Iterator[OutputChange]:
    return (x for x in output_changes(c.before, c.after) if x.kind is kind)


def _resumes(c: Comparison, change: OutputChange, because: str, remedy: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=_effect(c),
        location=c.sink_location,
        before=change.was,
        after=change.now,
        because=because[:1].upper() + because[1:],
        remedy=remedy,
    )


def _effect(c: Comparison) -> StateEffect:
    return StateEffect.EXACT if c.is_stateful else StateEffect.NONE


def _one_format(c: Comparison, wanted: str) -> tuple[Schema, Schema] | None:
    """Return both schemas if the sink keeps one directory and a format; `file` is any format."""
    old, new = c.before.sink, c.after.sink
    if old is None or new is None or old.schema is None or new.schema is None:
        return None
    formats = {(s.format or "").lower() for s in (old, new)}
    if wanted not in formats or not formats <= {"file", wanted}:
        return None
    if not _target(old) or not _target(new) or not same_place(old, new):
        return None
    return _in_files(old), _in_files(new)


def _target(sink: Sink) -> str | None:
    return sink.target or sink.options.get("path")


def _in_files(sink: Sink) -> Schema:
    """Return the columns that the files hold: those of the paths they don't."""
    assert sink.schema is not None
    by = set(sink.partition_by or ())
    return Schema(tuple(f for f in sink.schema.fields if f.name not in by))


def _unreadable(was: Field, now: Field) -> bool:
    """Whether one is text and the other a whole number: consumers of both fail, as measured."""
    kinds = [was.type, now.type]
    return "string" in kinds and any(isinstance(k, str) and k in _NUMBERS for k in kinds)


def _layout(schema: Schema | None) -> list[tuple[str, str]] | None:
    return None if schema is None else [(f.name, str(f.type)) for f in schema.fields]


def _described(schema: Schema | None) -> str | None:
    return None if schema is None else schema.describe()
