"""Rules about what lies around a pipeline: who reads its output, and what its topics hold.

They are not run by `compare`, which sees two versions alone: whoever looked around makes their
findings, one call for each thing that was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from headgate.rules.core.report import Finding, Location, Outcome, Report, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult, reason_of
from headgate.rules.spark.facts.output_columns import OutputChange

_FROM_JSON = "https://spark.apache.org/docs/latest/api/sql/#from_json"
_FILES = "readers of a file sink's directory, measured on Spark 4.2.0"
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
    sentence for each difference; `is_newest` whether the newest version is among them.
    """

    topic: str
    versions: str
    said: tuple[str, ...] = ()
    is_newest: bool = True


@dataclass(frozen=True, slots=True)
class DownstreamRule:
    """A rule whose check gets what was seen; `why` is the check's docstring, which users read."""

    code: str
    why: str
    source: str
    check: Callable[..., RuleResult]

    def of(self, *seen: object) -> Finding:
        """Return the finding for one thing that was seen."""
        return self.check(*seen).finding(self.code, self.why, self.source)


def downstream_rule(
    code: str, source: str
) -> Callable[[Callable[..., RuleResult]], DownstreamRule]:
    """Turn a check into an `DownstreamRule`; its docstring is the reason that users read."""
    return lambda check: DownstreamRule(code, reason_of(code, check), source, check)


@downstream_rule("DWN001", _FROM_JSON)
def reader_reads_it(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads this field. Without it, or with another type, from_json and
    get_json_object give null, from_avro takes other bytes for it or fails, and nothing tells that
    query's owner."""
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        remedy=f"Change {reader.pipeline} first, or go on writing the field until it no longer"
        " reads it.",
    )


@downstream_rule("DWN002", _FROM_JSON)
def reader_may_read_it(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads this output, and what it does with the field is not in its
    evidence."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        question=reader.question,
        remedy="Find out before the field goes.",
    )


@downstream_rule("DWN003", _FILES)
def reader_of_files(change: OutputChange, reader: Reader, location: Location) -> RuleResult:
    """A registered pipeline reads these files with a schema of its own. A column that is not in a
    file gives null; one of another type gives null, other values, or fails that query."""
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=change.was,
        after=change.now,
        because=f"{reader.sentence} {_said(change)}",
        remedy=f"Change {reader.pipeline} first, or go on writing the column.",
    )


@downstream_rule("RDS002", _AVRO)
def newest_is_not_read(held: Held, location: Location, before: Any, after: Any) -> RuleResult:
    """What is written to the topic now does not fit the new reading schema. from_json gives null
    for it, and from_avro and from_protobuf fail, or read bytes as another field."""
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=before,
        after=after,
        because=f"{held.topic} holds {held.versions}. {' '.join(held.said)}",
        remedy="Read with the schema that the registry has for the topic.",
    )


@downstream_rule("RDS003", _AVRO)
def older_is_not_read(held: Held, location: Location, before: Any, after: Any) -> RuleResult:
    """The new reading schema fits what is written now, and not every older version that records
    of the topic may still have: those that are not read yet, or that a replay reads again."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        before=before,
        after=after,
        because=f"{held.topic} may hold {held.versions}. {' '.join(held.said)}",
        question=f"Are all records of {held.versions} read, or gone from {held.topic}?",
        rollback=Rollback.SAFE,
        remedy="Let the old version read to the end before the switch.",
    )


@downstream_rule("RDS004", "https://avro.apache.org/docs/1.12.0/specification/#schema-resolution")
def written_otherwise(held: Held, location: Location, before: Any, after: Any) -> RuleResult:
    """What the new version writes does not fit the schema that the topic is registered with:
    readers that go by the registry fail, or take fields for others."""
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.NONE,
        location=location,
        before=before,
        after=after,
        because=f"{held.topic} is registered with {held.versions}. {' '.join(held.said)}",
        remedy="Register the new schema first, or write what the registered one says.",
    )


RULES = (
    reader_reads_it,
    reader_may_read_it,
    reader_of_files,
    newest_is_not_read,
    older_is_not_read,
    written_otherwise,
)


def _said(change: OutputChange) -> str:
    if change.after is None:
        return f"The output no longer has {change.name}."
    return f"{change.name} was {change.before} and becomes {change.after}."


def with_seen(report: Report, findings: Iterable[Finding], answered: Iterable[str] = ()) -> Report:
    """Return the report with these findings, worst first; rules in `answered` are taken out."""
    gone = frozenset(answered)
    kept = tuple(f for f in report.findings if f.rule not in gone)
    together = sorted((*findings, *kept), key=lambda f: -f.outcome)
    return replace(report, findings=tuple(together))
