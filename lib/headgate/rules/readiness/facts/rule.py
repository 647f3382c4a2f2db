"""The shape of a readiness rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields

from headgate.model.version import Engine
from headgate.rules.core.rule import NamedRule, Texts, declared
from headgate.rules.readiness.facts.report import Problem, ReadinessFinding, Severity
from headgate.rules.readiness.facts.subject import Subject

Check = Callable[[Subject], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class ReadinessRule(NamedRule):
    """A named check of one aspect; `engine` is the only one that it checks, None for all.

    `severities` are those that its problems can have, worst first.
    """

    severities: tuple[Severity, ...] = ()
    engine: Engine | None = None

    def run(self, subject: Subject) -> Iterator[ReadinessFinding]:
        """Yield one finding for every problem of the check."""
        if self.engine in (None, subject.version.engine):
            for problem in self.check(subject):
                said = {f.name: getattr(problem, f.name) for f in fields(problem)}
                yield ReadinessFinding(rule=self.code, why=self.why, source=self.source, **said)


def rule(
    code: str,
    source: str,
    engine: Engine | None = None,
    *,
    severities: tuple[Severity, ...],
    **texts: Texts,
) -> Callable[[Check], ReadinessRule]:
    """Turn a check into a rule; `texts` are `remedies` and `questions`.

    `source` says how it is known: measured (on what), documentation (which), or a proposal.
    """
    return declared(ReadinessRule, code, source, severities=severities, engine=engine, **texts)
