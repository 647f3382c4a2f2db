"""The words that every writing of a comparison shares."""

from __future__ import annotations

from typing import Any

from headgate.compat.report import Finding, Outcome, Rollback

GLYPHS = {
    Outcome.REFUSES: "!",
    Outcome.SILENTLY_WRONG: "≠",
    Outcome.UNKNOWN: "?",
    Outcome.NO_EFFECT: "·",
    Outcome.RESUMES: "✓",
}
SENTENCES = {
    Outcome.REFUSES: "Refuses: the new version will not start on this checkpoint.",
    Outcome.SILENTLY_WRONG: "Silently wrong: it starts, and goes on with wrong results.",
    Outcome.UNKNOWN: "Unknown: the evidence cannot tell; answer the question first.",
    Outcome.NO_EFFECT: "No effect: it resumes, and a change is ignored.",
    Outcome.RESUMES: "Resumes.",
}
ROLLBACKS = {
    Rollback.SAFE: "the old version can be started again",
    Rollback.REPAIRABLE: "the old version starts again after the remedy",
    Rollback.LOST: "the old version can never be started on this checkpoint again",
    Rollback.UNKNOWN: "unknown",
}


def value_text(value: Any) -> str:
    """Return a finding's value as one line."""
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_text, value)) or "nothing"
    return str(value)


def lines_of(finding: Finding) -> list[str]:
    """Return a finding as lines for people, without its heading."""
    out = [finding.why]
    if finding.before is not None or finding.after is not None:
        out += [f"- {value_text(finding.before)}", f"+ {value_text(finding.after)}"]
    if finding.question:
        out.append(f"Question: {finding.question}")
    if finding.error_class:
        out.append(f"Error: {finding.error_class}")
    if finding.remedy:
        out.append(f"Remedy: {finding.remedy}")
    if finding.outcome > Outcome.NO_EFFECT:
        out.append(f"Roll-back: {ROLLBACKS[finding.rollback]}")
    out.append(f"Source: {finding.source}")
    return out
