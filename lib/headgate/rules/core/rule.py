"""The shape of a rule, and what a rule sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headgate.model.cluster import Cluster
from headgate.model.version import Version
from headgate.rules.core.match_operators import Matches, OperatorPair, SourcePair
from headgate.rules.core.measured_spark_versions import SparkVersion
from headgate.rules.core.report import Finding, Location, Outcome, Rollback, StateEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two versions with their counterparts found; every rule reads it and nothing else.

    `operators` pairs stateful operators as the engine does (by id, the output's is 0), `sources`
    by name where names count and else by position. `renames` are {old: new} of sources that
    somebody declared to be the same. `cluster` is Kafka as it is now, None where nobody asked it.
    """

    before: Version
    after: Version
    spark: SparkVersion
    operators: tuple[OperatorPair, ...] = ()
    sources: tuple[SourcePair, ...] = ()
    nodes: Matches = Matches()
    renames: Mapping[str, str] = field(default_factory=dict)
    cluster: Cluster | None = None

    def setting(self, key: str) -> tuple[str | None, str | None]:
        """Return a session setting before and after, None where it was not set."""
        return self.before.settings.get(key), self.after.settings.get(key)

    @property
    def sink_location(self) -> Location:
        """The nodes of both sinks."""
        return Location.between(self.before.sink, self.after.sink)

    @property
    def is_stateful(self) -> bool:
        """Say whether the checkpoint holds state."""
        return bool(self.before.stateful)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What a check yields; the rule adds its code, its reason and its source.

    `because` is the sentence that is special to this case and precedes the reason.
    `source` overrides the rule's.
    """

    outcome: Outcome
    state_effect: StateEffect | None = None
    location: Location = Location()
    before: Any = None
    after: Any = None
    because: str = ""
    question: str | None = None
    error_class: str | None = None
    rollback: Rollback = Rollback.SAFE
    remedy: str = ""
    scenario: str | None = None
    source: str | None = None

    def finding(self, code: str, why: str, source: str) -> Finding:
        """Return it as the finding of the rule with that code, reason and source."""
        return Finding(
            rule=code,
            outcome=self.outcome,
            why=f"{self.because} {why}".strip(),
            source=source,
            state_effect=self.state_effect,
            location=self.location,
            before=self.before,
            after=self.after,
            question=self.question,
            error_class=self.error_class,
            rollback=self.rollback,
            remedy=self.remedy,
            scenario=self.scenario,
        )


Check = Callable[[Comparison], Iterable[RuleResult]]
Texts = tuple[str, ...]
Outcomes = tuple[Outcome, ...]
Made = TypeVar("Made")
SOURCE_OF_VERSION = "measured"


# How a title writes words of a function's name.
_WRITTEN = {
    "foreach batch": "foreachBatch",
    "upgrade from": "upgrade.from",
    "kafka streams": "Kafka Streams",
    "in tmp": "in /tmp",
    **{word: word.upper() for word in ("ansi", "csv", "json")},
    **{word: word.capitalize() for word in ("avro", "kafka", "parquet", "spark")},
}
_WORDS = re.compile(rf"\b(?:{'|'.join(_WRITTEN)})\b")


@dataclass(frozen=True, slots=True)
class NamedRule:
    """What rules of every kind have; `code` never changes its meaning.

    `why` is the check's docstring, which users read. `source` says how it is known: a page of the
    documentation, or what it was measured on. `outcomes` are those that its results can have, worst
    first; a readiness rule has severities instead, a schema rule an effect. `remedies` and
    `questions` are all that its results can say, as templates: the check formats one of them.
    """

    code: str
    why: str
    source: str
    check: Callable[..., Any]
    outcomes: Outcomes = ()
    remedies: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the check as words."""
        words = str(self.check.__name__).replace("_", " ").strip()
        return _WORDS.sub(lambda found: _WRITTEN[found[0]], words)


@dataclass(frozen=True, slots=True)
class Rule(NamedRule):
    """A named check of one aspect of two versions of a query.

    `is_of_state`: it only judges what state means, so a twin run can refute it. Never of settings,
    time zones, state store providers, formats of files, sources and sinks: a twin replaces them,
    or few rows don't show them. `is_of_time`: it is about the time column, so a twin run can only
    answer its question: generated rows have nearly the same times in all columns of a source.
    `is_of_start`: any start on a checkpoint of the old version answers its question.
    """

    is_of_state: bool = False
    is_of_time: bool = False
    is_of_start: bool = False

    def run(self, comparison: Comparison) -> Iterator[Finding]:
        """Yield one finding for every verdict of the check."""
        for verdict in self.check(comparison):
            yield self._finding(verdict, comparison.spark)

    def _finding(self, v: RuleResult, spark: SparkVersion) -> Finding:
        known = v.source or self.source
        source = spark.source if known == SOURCE_OF_VERSION else known
        return v.finding(self.code, self.why, source)


def rule(
    code: str,
    source: str = SOURCE_OF_VERSION,
    *,
    outcomes: Outcomes,
    is_of_state: bool = False,
    is_of_time: bool = False,
    is_of_start: bool = False,
    **texts: Texts,
) -> Callable[[Check], Rule]:
    """Turn a check into a `Rule`; its docstring is the reason that users read.

    `source` is a page of the documentation or a proposal; `measured` becomes the Spark version
    that restarts were measured on. `texts` are `remedies` and `questions`.
    """
    marks = {"is_of_state": is_of_state, "is_of_time": is_of_time, "is_of_start": is_of_start}
    return declared(Rule, code, source, outcomes=outcomes, **marks, **texts)


def declared(
    kind: Callable[..., Made], code: str, source: str, **more: Any
) -> Callable[[Callable[..., Any]], Made]:
    """Return a decorator that makes a rule of a kind; `more` are fields of that kind."""
    return lambda check: kind(code, reason_of(code, check), source, check, **more)


def reason_of(code: str, check: Callable[..., object]) -> str:
    """Return a check's docstring as the line that users read; TypeError where it has none."""
    if not check.__doc__:
        raise TypeError(
            f"{code} has no docstring. Add one: users read it as the reason of a finding"
        )
    return " ".join(check.__doc__.split())
