"""A comparison as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from typing import Any

from headgate import __version__
from headgate.compat.report import Finding, Outcome, Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Outcome.REFUSES: "error",
    Outcome.SILENTLY_WRONG: "error",
    Outcome.UNKNOWN: "warning",
    Outcome.NO_EFFECT: "note",
    Outcome.RESUMES: "note",
}


def report_sarif(report: Report) -> dict[str, Any]:
    """Return one run; a finding's place is a logical location, the id of its node."""
    rules = {f.rule: {"id": f.rule} for f in report.findings}
    driver = {"name": "Headgate", "version": __version__, "rules": list(rules.values())}
    results = [_result(f) for f in report.findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding) -> dict[str, Any]:
    node = finding.where.after or finding.where.before
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.outcome],
        "message": {"text": " ".join(t for t in (finding.why, finding.remedy) if t)},
        "properties": {"outcome": finding.outcome.word, "error_class": finding.error_class},
    }
    if node:
        place = {"name": node, "kind": "operator"}
        result["locations"] = [{"logicalLocations": [place]}]
    if finding.accepted:
        result["suppressions"] = [{"kind": "external", "justification": finding.accepted.reason}]
    return result
