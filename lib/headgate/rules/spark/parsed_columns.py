"""Rules about the schemas that a query takes its sources' records apart with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.model.output_columns import Parsed
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.parsed_columns import (
    changed_reading,
    mode_of,
    shown_schema,
    told_apart,
)

_AVRO = "https://spark.apache.org/docs/latest/sql-data-sources-avro.html#to_avro-and-from_avro"
_FROM_JSON = "https://spark.apache.org/docs/latest/api/sql/#from_json"


_READ_ALL_FIRST = "Let the old version read all records of the old schema first."
_CONFIGURE_THE_SCHEMA = (
    "Set [schema_registry] in headgate.toml, so that Headgate can compare the schemas. Or let the "
    "old version read all records of the old schema first."
)
_ARE_ALL_UNREAD = "Are all unread records written with the new schema?"
_CAN_THE_NEW = "Can the new avroSchema read records of the old schema (Avro's schema resolution)?"


@rule(
    "RDS001",
    _AVRO,
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_READ_ALL_FIRST, _CONFIGURE_THE_SCHEMA),
    questions=(_ARE_ALL_UNREAD, _CAN_THE_NEW),
)
def reader_schema(c: Comparison) -> Iterator[RuleResult]:
    """from_avro and from_protobuf assume that every record was written with their schema.

    If a record was written with a different schema, Spark fails or reads its bytes as the wrong
    fields. Offsets don't show which schema the unread records have.
    """
    for was, now in changed_reading(c.before, c.after):
        if now.function == "from_json" or told_apart(was) == told_apart(now):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=_where(c, now),
            before=_shown(was, now),
            after=_shown(now, was),
            because=f"The schema of {now.function} changed.",
            question=_question(was, now),
            rollback=Rollback.SAFE,
            # With a registry, only schemas of Avro are compared.
            remedy=_CONFIGURE_THE_SCHEMA if now.declared else _READ_ALL_FIRST,
        )


_CONFIGURE_THE_SCHEMA_REGISTRY = (
    "Set [schema_registry] in headgate.toml, so that Headgate can check whether the records have "
    "the parsed fields."
)


@rule("RDS005", _FROM_JSON, outcomes=(Outcome.RESUMES,), remedies=(_CONFIGURE_THE_SCHEMA_REGISTRY,))
def json_schema_read(c: Comparison) -> Iterator[RuleResult]:
    """from_json returns null if a record lacks a field, or has a different type for the field.

    The query continues in both cases.
    """
    for was, now in changed_reading(c.before, c.after):
        if now.function != "from_json" or was.schema is None or now.schema is None:
            continue
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=_effect(c),
            location=_where(c, now),
            before=was.schema.describe(),
            after=now.schema.describe(),
            because="The fields or types that from_json parses changed.",
            remedy=_CONFIGURE_THE_SCHEMA_REGISTRY,
        )


_KEEP_PERMISSIVE_AND_SEND = (
    "Keep PERMISSIVE, and send records that become null to a dead letter topic."
)
_ARE_THERE_UNREAD = "Are there unread records that don't match the schema?"


@rule(
    "RDS006",
    _AVRO,
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_PERMISSIVE_AND_SEND,),
    questions=(_ARE_THERE_UNREAD,),
)
def reading_mode(c: Comparison) -> Iterator[RuleResult]:
    """In mode FAILFAST a record that can't be parsed stops the query, also after every restart.

    In mode PERMISSIVE the record becomes null. The checkpoint doesn't record the mode.
    """
    for was, now in changed_reading(c.before, c.after):
        if now.function == "from_json" or mode_of(was) == mode_of(now):
            continue
        fails = mode_of(now) == "FAILFAST"
        yield RuleResult(
            outcome=Outcome.UNKNOWN if fails else Outcome.RESUMES,
            state_effect=None if fails else _effect(c),
            location=_where(c, now),
            before=mode_of(was),
            after=mode_of(now),
            because=f"The mode of {now.function} changed.",
            question=_ARE_THERE_UNREAD if fails else None,
            remedy=_KEEP_PERMISSIVE_AND_SEND,
        )


def _effect(c: Comparison) -> StateEffect:
    return StateEffect.EXACT if c.is_stateful else StateEffect.NONE


def _shown(one: Parsed, other: Parsed) -> Any:
    """Return the schema that differs from the other's: the evolved one where only that does."""
    if one.declared == other.declared and one.evolved != other.evolved:
        return shown_schema(one.evolved)
    return shown_schema(one.declared) or one.message


def _question(was: Parsed, now: Parsed) -> str:
    if was.declared == now.declared and was.message == now.message:
        return _CAN_THE_NEW
    return _ARE_ALL_UNREAD


def _where(c: Comparison, now: Parsed) -> Location:
    position = next((int(n[1:].partition(".")[0]) for n in now.columns), None)
    nodes = [
        next((s.node for s in v.sources or () if s.position == position), None)
        for v in (c.before, c.after)
    ]
    return Location(*nodes)
