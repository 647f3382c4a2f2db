"""Rules about what surrounds a pipeline: its downstream consumers, and what its topics hold.

`compare` doesn't run them, as it sees only two versions. The code that checks the surroundings
makes their findings, with one call for each thing that was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from headgate.rules.core.report import Finding, Location, Outcome, Report, Rollback, StateEffect
from headgate.rules.core.rule import NamedRule, Outcomes, RuleResult, Texts, declared
from headgate.rules.spark.facts.output_columns import OutputChange
from headgate.rules.topic_schemas.facts.field_reads import NEEDS_FIELD, without_lead

_FROM_JSON = "https://spark.apache.org/docs/latest/api/sql/#from_json"
_FILES = "measured on Spark 4.2.0: batch reads of a file sink's directory"
_AVRO = "https://spark.apache.org/docs/latest/sql-data-sources-avro.html#to_avro-and-from_avro"


@dataclass(frozen=True, slots=True)
class Reader:
    """What one pipeline downstream does with a field; `is_sure` where its plan shows it."""

    pipeline: str
    sentence: str
    is_sure: bool
    question: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What a topic holds beside what a query reads or writes.

    `versions` names the versions of its schema that it is about, `said` what differs, one
    sentence for each difference.
    """

    topic: str
    versions: str
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DownstreamRule(NamedRule):
    """A rule whose check gets what was seen."""

    def of(self, *seen: object) -> Finding:
        """Return the finding for one thing that was seen."""
        result: RuleResult = self.check(*seen)
        return result.finding(self.code, without_lead(self.why), self.source)


def downstream_rule(
    code: str, source: str, *, outcomes: Outcomes, **texts: Texts
) -> Callable[[Callable[..., RuleResult]], DownstreamRule]:
    """Turn a check into a `DownstreamRule`; `texts` are `remedies` and `questions`."""
    return declared(DownstreamRule, code, source, outcomes=outcomes, **texts)


_CHANGE_FIRST_OR_KEEP = (
    "Change pipeline {pipeline} first. Or keep writing the field until {pipeline} no longer "
    "reads the field."
)


@downstream_rule(
    "DWN001", _FROM_JSON, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_CHANGE_FIRST_OR_KEEP,)
)
def consumer_reads_field(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads this field.

    If the field is missing or has a different type, from_json and get_json_object return null.
    from_avro reads wrong bytes as the field, or fails. The consumer's owner gets no warning.
    """
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        remedy=_CHANGE_FIRST_OR_KEEP.format(pipeline=reader.pipeline),
    )


_CHECK_HOW_IT_USES = "Before you change the field, check how the pipeline uses it."


READS_COLUMN = "Does the pipeline {pipeline} read the column {path}?"


@downstream_rule(
    "DWN002",
    _FROM_JSON,
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_CHECK_HOW_IT_USES,),
    questions=(NEEDS_FIELD, READS_COLUMN),
)
def consumer_may_read_field(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads this output. The pipeline's evidence doesn't show how it uses the
    field.

    If the pipeline uses the field, its next records can make it fail, or give it null or wrong
    values. Its owner gets no warning from the change itself, so ask before you deploy it.
    """
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        question=reader.question,
        remedy=_CHECK_HOW_IT_USES,
    )


_CHANGE_FIRST_OR_KEEP_WRITING = (
    "Change pipeline {pipeline} first. Or keep writing the column as before."
)


@downstream_rule(
    "DWN003", _FILES, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_CHANGE_FIRST_OR_KEEP_WRITING,)
)
def consumer_of_files(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads these files with its own schema.

    If a file lacks a column, the consumer reads null. If a column has a different type, the
    consumer reads null or wrong values, or fails.
    """
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        remedy=_CHANGE_FIRST_OR_KEEP_WRITING.format(pipeline=reader.pipeline),
    )


_READ_WITH_THE_SCHEMA = (
    "Parse the records with the topic's current schema from the schema registry."
)


@downstream_rule(
    "RDS002", _AVRO, outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_READ_WITH_THE_SCHEMA,)
)
def current_schema_not_readable(
    held: Held, location: Location, before: Any, after: Any
) -> RuleResult:
    """The new version parses the topic with a schema that doesn't fit the topic's current schema.

    from_json returns null for missing fields. from_avro and from_protobuf fail, or read bytes as
    the wrong field.
    """
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=before,
        after=after,
        because=(
            f"The current schema of topic {held.topic} is {held.versions}. {' '.join(held.said)}"
        ),
        remedy=_READ_WITH_THE_SCHEMA,
    )


_LET_THE_OLD = (
    "Before you start the new version, let the old version process the topic up to the latest "
    "offset."
)
_HAS_THE_QUERY = (
    "Has the query already processed all records of topic {topic} that don't fit the new version's "
    "schema (compared with {versions})? Or has Kafka deleted these records?"
)


@downstream_rule(
    "RDS003",
    _AVRO,
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_LET_THE_OLD,),
    questions=(_HAS_THE_QUERY,),
)
def older_schema_not_readable(
    held: Held, location: Location, before: Any, after: Any
) -> RuleResult:
    """Some records of the topic may not fit the new version's schema: records with an older schema,
    or records that lack a field.

    Such records may still be unread. A replay may also reprocess such records.
    """
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        before=before,
        after=after,
        because=(
            f"Topic {held.topic} may have records that don't fit the new version's schema "
            f"(compared with {held.versions}). {' '.join(held.said)}"
        ),
        question=_HAS_THE_QUERY.format(versions=held.versions, topic=held.topic),
        rollback=Rollback.SAFE,
        remedy=_LET_THE_OLD,
    )


_REGISTER_THE_NEW = (
    "Before you deploy the new version, register the schema of its output. Or change the new "
    "version, so that it writes the fields of the registered schema."
)


@downstream_rule(
    "RDS004",
    "https://avro.apache.org/docs/1.12.0/specification/#schema-resolution",
    outcomes=(Outcome.SILENTLY_WRONG,),
    remedies=(_REGISTER_THE_NEW,),
)
def registered_schema_mismatch(
    held: Held, location: Location, before: Any, after: Any
) -> RuleResult:
    """The new version's output doesn't fit the topic's registered schema.

    Consumers that use the schema registry fail, or read wrong fields.
    """
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=before,
        after=after,
        because=(
            f"The registered schema of topic {held.topic} is {held.versions}. {' '.join(held.said)}"
        ),
        remedy=_REGISTER_THE_NEW,
    )


RULES = (
    consumer_reads_field,
    consumer_may_read_field,
    consumer_of_files,
    current_schema_not_readable,
    older_schema_not_readable,
    registered_schema_mismatch,
)


def _said(change: OutputChange) -> str:
    if change.after is None:
        return f"The new version's output no longer has the field {change.name}."
    return f"The type of the field {change.name} changes from {change.before} to {change.after}."


def with_seen(report: Report, findings: Iterable[Finding], answered: Iterable[str] = ()) -> Report:
    """Return the report with these findings, worst first; rules in `answered` are taken out."""
    gone = frozenset(answered)
    kept = tuple(f for f in report.findings if f.rule not in gone)
    together = sorted((*findings, *kept), key=lambda f: -f.outcome)
    return replace(report, findings=tuple(together))
