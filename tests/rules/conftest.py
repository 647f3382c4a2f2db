"""Every finding has an outcome, or a severity, that its rule declares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headgate.rules.catalogue import all_rules
from headgate.rules.core.report import Finding, Outcome
from headgate.rules.core.rule import RuleResult
from headgate.rules.readiness.facts.report import ReadinessFinding, Severity
from headgate.rules.readiness.facts.rule import ReadinessRule
from headgate.rules.readiness.facts.subject import Subject


@pytest.fixture(scope="session", autouse=True)
def declared() -> Iterator[set[tuple[str, Outcome | Severity]]]:
    """Checks of each finding that its rule declares how bad it is; what findings were so far."""
    shown: set[tuple[str, Outcome | Severity]] = set()
    outcomes = {rule.code: rule.outcomes for rule in all_rules()}
    finding, run = RuleResult.finding, ReadinessRule.run

    def found(result: RuleResult, code: str, why: str, source: str) -> Finding:
        assert result.outcome in outcomes[code], f"{code} doesn't declare {result.outcome.name}"
        shown.add((code, result.outcome))
        return finding(result, code, why, source)

    def ran(rule: ReadinessRule, subject: Subject) -> Iterator[ReadinessFinding]:
        for one in run(rule, subject):
            severity = one.severity
            assert severity in rule.severities, f"{rule.code} doesn't declare {severity.name}"
            shown.add((rule.code, severity))
            yield one

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RuleResult, "finding", found)
        patched.setattr(ReadinessRule, "run", ran)
        yield shown
