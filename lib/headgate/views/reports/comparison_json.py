"""A comparison as the contract's JSON."""

from __future__ import annotations

from typing import Any

from headgate.model.registered_pipelines import Acceptance
from headgate.rules.core.report import Change, Finding, Report, Upgrade


def report_json(report: Report) -> dict[str, Any]:
    """Return the object that `diff --format json` prints; every value is plain."""
    return {
        "schema": 1,
        "outcome": report.outcome.word,
        "judged_for": report.judged_for,
        "findings": [finding_json(f) for f in report.findings],
        "changes": [_change(c) for c in report.changes],
        "upgrade": _upgrade(report.upgrade),
        "warnings": list(report.warnings),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return one finding with every field of the contract, in the contract's order."""
    return {
        "rule": finding.rule,
        "outcome": finding.outcome.word,
        "state_effect": finding.state_effect.value if finding.state_effect else None,
        "where": {"before": finding.location.before, "after": finding.location.after},
        "before": finding.before,
        "after": finding.after,
        "why": finding.why,
        "question": finding.question,
        "error_class": finding.error_class,
        "rollback": finding.rollback.value,
        "remedy": finding.remedy,
        "scenario": finding.scenario,
        "accepted": accepted_json(finding.accepted),
        "source": finding.source,
    }


def accepted_json(accepted: Acceptance | None) -> dict[str, Any] | None:
    """Return who lives with a finding and until when; None where nobody does."""
    if accepted is None:
        return None
    return {"reason": accepted.reason, "until": accepted.until}


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "before": change.before,
        "after": change.after,
        "what": change.what,
    }


def _upgrade(upgrade: Upgrade | None) -> dict[str, Any] | None:
    if upgrade is None:
        return None
    return {"way": upgrade.way.value, "steps": list(upgrade.steps), "why": upgrade.why}
