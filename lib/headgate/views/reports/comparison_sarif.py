"""A comparison as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate import __version__
from headgate.rules.core.report import Finding, Labels, Outcome, Report
from headgate.views.reports.comparison_words import lines_of, rule_link

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Outcome.REFUSES: "error",
    Outcome.SILENTLY_WRONG: "error",
    Outcome.UNKNOWN: "warning",
    Outcome.NO_EFFECT: "note",
    Outcome.RESUMES: "note",
}


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The file that a finding is shown at: a path relative to the repository, and a line."""

    path: str
    line: int = 1


def report_sarif(
    report: Report,
    *,
    reasons: Mapping[str, str] | None = None,
    place: SourcePlace | None = None,
    rules_url: str | None = None,
) -> dict[str, Any]:
    """Return one run. A finding is at its node (a logical location) and at `place`, if given.

    `reasons` are the rules' own by code; `rules_url` is the folder of their pages.
    """
    codes = list(dict.fromkeys(f.rule for f in report.findings))
    first = {f.rule: f for f in reversed(report.findings)}
    rules = [_rule(first[c], (reasons or {}).get(c), rules_url) for c in codes]
    results = [_result(f, codes.index(f.rule), report, place) for f in report.findings]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "Headgate", "version": __version__, "rules": rules}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(report)],
        "results": results,
        "properties": {"outcome": report.outcome.word, "judged_for": report.judged_for},
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(finding: Finding, reason: str | None, rules_url: str | None) -> dict[str, Any]:
    why = reason or finding.why
    rule: dict[str, Any] = {
        "id": finding.rule,
        "shortDescription": {"text": _first_sentence(why)},
        "fullDescription": {"text": why},
        "help": {"text": why, "markdown": f"{why}\n\n_Source: {finding.source}_"},
        "defaultConfiguration": {"level": _LEVELS[finding.outcome]},
    }
    if link := rule_link(finding.rule, rules_url):
        rule["helpUri"] = link
    return rule


def _first_sentence(text: str) -> str:
    first, stop, _ = text.partition(". ")
    return first + stop.strip()


def _invocation(report: Report) -> dict[str, Any]:
    said = [{"level": "warning", "message": {"text": w}} for w in report.warnings]
    return {"executionSuccessful": True, "toolExecutionNotifications": said}


def _result(
    finding: Finding, index: int, report: Report, place: SourcePlace | None
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.outcome],
        "message": {"text": "\n".join(lines_of(finding, report.labels))},
        "partialFingerprints": {"headgateFinding/v1": _fingerprint(finding)},
        "properties": _properties(finding),
    }
    if found := _location(finding, report.labels, place):
        result["locations"] = [found]
    if finding.accepted:
        held = {"kind": "external", "status": "accepted"}
        result["suppressions"] = [held | {"justification": finding.accepted.reason}]
    return result


def _location(finding: Finding, labels: Labels, place: SourcePlace | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if place is not None:
        found["physicalLocation"] = {
            "artifactLocation": {"uri": place.path},
            "region": {"startLine": place.line},
        }
    sides = ((finding.location.before, labels.before), (finding.location.after, labels.after))
    logical = [
        {"name": names.get(node, node), "fullyQualifiedName": node, "kind": "operator"}
        for node, names in sides
        if node is not None
    ]
    if logical:
        found["logicalLocations"] = logical[:1] if logical[0] == logical[-1] else logical
    return found


def _fingerprint(finding: Finding) -> str:
    """Return what stays the same while a finding does, whatever the sentences become."""
    parts = (finding.rule, finding.outcome.word, finding.location, finding.before, finding.after)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _properties(finding: Finding) -> dict[str, Any]:
    return {
        "outcome": finding.outcome.word,
        "error_class": finding.error_class,
        "state_effect": finding.state_effect.value if finding.state_effect else None,
        "rollback": finding.rollback.value,
        "remedy": finding.remedy,
        "scenario": finding.scenario,
        "question": finding.question,
    }
