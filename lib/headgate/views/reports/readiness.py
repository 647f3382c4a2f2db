"""The words that every writing of a readiness report shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport, Severity

GLYPHS = {Severity.HIGH: "!", Severity.MEDIUM: "▲", Severity.LOW: "·"}
WORDS = {Severity.HIGH: "High", Severity.MEDIUM: "Medium", Severity.LOW: "Low"}
_KEEPS = {
    True: "the state stays",
    False: "the state is lost, or a new checkpoint is needed",
    None: "whether the state stays is not known",
}


def headline(report: ReadinessReport) -> str:
    """Return how many findings of each severity nobody has accepted, in one line."""
    counts = Counter(f.severity for f in report.findings if f.accepted is None)
    accepted = sum(f.accepted is not None for f in report.findings)
    parts = [f"{counts[s]} {s.word}" for s in sorted(Severity, reverse=True) if counts[s]]
    none = "Nothing found in what could be looked at." if report.warnings else "Nothing found."
    said = f"{', '.join(parts)}." if parts else none
    return f"{said} {accepted} accepted." if accepted else said


def groups(report: ReadinessReport) -> list[list[ReadinessFinding]]:
    """Return the findings in their order, those together that differ in their place alone."""
    out: dict[tuple[object, ...], list[ReadinessFinding]] = {}
    for f in report.findings:
        key = (f.severity, f.rule, f.keeps_state, f.question, f.accepted)
        out.setdefault(key, []).append(f)
    return list(out.values())


def lines_of(group: Sequence[ReadinessFinding]) -> list[tuple[str, str]]:
    """Return (word, text) of what is said of a group; the remedy is the first one's."""
    first = group[0]
    out = [("", f.what) for f in group]
    out.append(("Why", first.why))
    if first.question:
        out.append(("Question", first.question))
    out.append(("Remedy", f"{first.remedy} ({_KEEPS[first.keeps_state]})"))
    if first.accepted:
        until = f" until {first.accepted.until}" if first.accepted.until else ""
        out.append((f"Accepted{until}", first.accepted.reason))
    out.append(("Source", first.source))
    return out


def keeps_text(finding: ReadinessFinding) -> str:
    """Return what the remedy does to the state."""
    return _KEEPS[finding.keeps_state]
