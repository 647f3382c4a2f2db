"""A readiness report as the contract's JSON."""

from __future__ import annotations

from typing import Any

from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport


def readiness_json(report: ReadinessReport) -> dict[str, Any]:
    """Return the object that `check --format json` prints; every value is plain."""
    return {
        "schema": 1,
        "name": report.name,
        "engine": report.engine,
        "findings": [_finding(f) for f in report.findings],
        "warnings": list(report.warnings),
    }


def _finding(found: ReadinessFinding) -> dict[str, Any]:
    accepted = found.accepted
    return {
        "rule": found.rule,
        "severity": found.severity.word,
        "where": found.where,
        "what": found.what,
        "why": found.why,
        "remedy": found.remedy,
        "keeps_state": found.keeps_state,
        "question": found.question,
        "source": found.source,
        "accepted": {"reason": accepted.reason, "until": accepted.until} if accepted else None,
    }
