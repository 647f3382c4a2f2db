"""A readiness report: its words, as a document and as the contract's JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport, Severity
from headgate.text.numbers import plural
from headgate.views.reports.comparison_json import accepted_json
from headgate.views.reports.document import Document, Item, Level

GLYPHS = {Severity.HIGH: "!", Severity.MEDIUM: "▲", Severity.LOW: "·"}
WORDS = {Severity.HIGH: "High", Severity.MEDIUM: "Medium", Severity.LOW: "Low"}
_LEVELS = {Severity.HIGH: Level.FAILS, Severity.MEDIUM: Level.WARNING, Severity.LOW: Level.NOTE}
_KEEPS = {
    True: "The remedy keeps the state.",
    False: "The remedy deletes the state or needs a new checkpoint.",
    None: "Headgate doesn't know whether the remedy keeps the state.",
}


def headline(report: ReadinessReport) -> str:
    """Return how many findings of each severity nobody has accepted, in one line."""
    counts = Counter(f.severity for f in report.findings if f.accepted is None)
    accepted = sum(f.accepted is not None for f in report.findings)
    parts = [f"{counts[s]} {s.word}" for s in sorted(Severity, reverse=True) if counts[s]]
    none = (
        "No problems found in the parts that could be checked."
        if report.warnings
        else "No problems found."
    )
    count = plural(sum(counts.values()), "finding")
    said = f"{count}: {', '.join(parts)}." if parts else none
    return f"{said} {accepted} accepted." if accepted else said


def keeps_text(finding: ReadinessFinding) -> str:
    """Return what the remedy does to the state."""
    return _KEEPS[finding.keeps_state]


def readiness_document(report: ReadinessReport, *, fail_on: Collection[str] = ()) -> Document:
    """Return what `check` says; `fail_on` are severities and codes that fail the check."""
    worst = report.findings[0].severity if report.findings else None
    return Document(
        command="headgate check",
        level=Level.GOOD if worst is None else _LEVELS[worst],
        glyph="✓" if worst is None else GLYPHS[worst],
        title=headline(report),
        scope=" ".join(filter(None, (report.engine, report.name))),
        items=tuple(_item(f, fail_on) for f in report.findings),
        passed="ready",
        warnings=report.warnings,
    )


def _item(found: ReadinessFinding, fail_on: Collection[str]) -> Item:
    told = (
        ("Why", found.why),
        ("Question", found.question),
        ("Remedy", f"{found.remedy} {_KEEPS[found.keeps_state]}"),
        ("Source", found.source),
    )
    return Item(
        rule=found.rule,
        level=_LEVELS[found.severity],
        kind=found.severity.word,
        glyph=GLYPHS[found.severity],
        word=found.severity.word,
        what=(found.what,),
        facts=tuple((name, text) for name, text in told if text),
        nodes=((found.location, found.location),) if found.location else (),
        location=found.location or "",
        todo=found.question or found.remedy,
        accepted=found.accepted,
        group=(found.severity, found.rule, found.keeps_state, found.question, found.accepted),
        identity=repr((found.rule, found.severity.word, found.location)),
        closes=ReadinessReport(findings=(found,)).closes(fail_on),
        reason=found.why,
        properties={"severity": found.severity.word, "question": found.question},
    )


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
    """Return the fields of a finding of `diff`, with a severity for the outcome, and `keeps_state`.

    There is no new version yet, so its fields are null.
    """
    return {
        "rule": found.rule,
        "severity": found.severity.word,
        "state_effect": None,
        "where": {"before": found.location, "after": None},
        "before": found.what,
        "after": None,
        "why": found.why,
        "question": found.question,
        "error_class": None,
        "rollback": "unknown",
        "remedy": found.remedy,
        "scenario": None,
        "accepted": accepted_json(found.accepted),
        "source": found.source,
        "keeps_state": found.keeps_state,
    }
