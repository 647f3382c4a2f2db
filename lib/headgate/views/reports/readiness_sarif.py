"""A readiness report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import Any

from headgate import __version__
from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport, Severity

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}


def readiness_sarif(report: ReadinessReport) -> dict[str, Any]:
    """Return one run; a finding's place is a logical location, the id of its node."""
    rules = {f.rule: {"id": f.rule, "fullDescription": {"text": f.why}} for f in report.findings}
    driver = {"name": "Headgate", "version": __version__, "rules": list(rules.values())}
    results = [_result(f) for f in report.findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(found: ReadinessFinding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.what} {found.remedy}"},
        "properties": {"severity": found.severity.word, "question": found.question},
    }
    if found.where:
        place = {"name": found.where, "kind": "operator"}
        result["locations"] = [{"logicalLocations": [place]}]
    if found.accepted:
        result["suppressions"] = [{"kind": "external", "justification": found.accepted.reason}]
    return result
