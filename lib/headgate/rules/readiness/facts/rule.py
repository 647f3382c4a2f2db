"""The shape of a readiness rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from headgate.model.version import Engine
from headgate.rules.core.rule import NamedRule, Texts, declared
from headgate.rules.readiness.facts.report import ReadinessFinding, Severity
from headgate.rules.readiness.facts.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a check yields; the rule adds its code, its reason and its source."""

    severity: Severity
    what: str
    remedy: str
    location: str | None = None
    keeps_state: bool | None = None
    question: str | None = None


Check = Callable[[Subject], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class ReadinessRule(NamedRule):
    """A named check of one aspect; `engine` is the only one that it looks at, None for all."""

    engine: Engine | None = None

    def run(self, subject: Subject) -> Iterator[ReadinessFinding]:
        """Yield one finding for every problem of the check."""
        if self.engine in (None, subject.version.engine):
            yield from map(self._finding, self.check(subject))

    def _finding(self, problem: Problem) -> ReadinessFinding:
        return ReadinessFinding(
            rule=self.code,
            severity=problem.severity,
            location=problem.location,
            what=problem.what,
            why=self.why,
            remedy=problem.remedy,
            keeps_state=problem.keeps_state,
            question=problem.question,
            source=self.source,
        )


def rule(
    code: str, source: str, engine: Engine | None = None, **texts: Texts
) -> Callable[[Check], ReadinessRule]:
    """Turn a check into a rule; `texts` are `remedies` and `questions`.

    `source` says how it is known: measured (on what), documentation (which), or a proposal.
    """
    return declared(ReadinessRule, code, source, engine=engine, **texts)
