"""The one line of a comparison that a release manager can act on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from headgate.compat.report import Finding, Outcome, Report, StateEffect, UpgradeWay
from headgate.views.report_upgrade import HEADLINES

GLYPHS = {
    Outcome.REFUSES: "!",
    Outcome.SILENTLY_WRONG: "≠",
    Outcome.UNKNOWN: "?",
    Outcome.NO_EFFECT: "=",
    Outcome.RESUMES: "✓",
}
WORDS = {
    Outcome.REFUSES: "Refuses to start",
    Outcome.SILENTLY_WRONG: "Silently wrong",
    Outcome.UNKNOWN: "Cannot tell",
    Outcome.NO_EFFECT: "No effect",
    Outcome.RESUMES: "Resumes",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Glyph and word of the outcome, one sentence, and the outcome's word for its hue."""

    outcome: Outcome
    sentence: str

    @property
    def glyph(self) -> str:
        """The outcome's sign."""
        return GLYPHS[self.outcome]

    @property
    def word(self) -> str:
        """What the engine does, as a headline."""
        return f"{WORDS[self.outcome]}."


def verdict(report: Report) -> Verdict:
    """Return what to do about a report; accepted findings still count."""
    worst = report.outcome
    of_worst = [f for f in report.findings if f.outcome is worst]
    first = next((f for f in of_worst if f.accepted is None), next(iter(of_worst), None))
    said = (_advice(worst, first, report), _way(report), _rest(report))
    return Verdict(worst, " ".join(filter(None, said)))


def _advice(worst: Outcome, first: Finding | None, report: Report) -> str:
    if worst is Outcome.REFUSES and first is not None:
        error = f" ({first.error_class})" if first.error_class else ""
        return f"Do not deploy on this state: the engine will not run it{error}. {first.remedy}"
    if worst is Outcome.SILENTLY_WRONG and first is not None:
        return f"Do not deploy on this state: it starts and writes wrong results. {first.remedy}"
    if worst is Outcome.UNKNOWN and first is not None:
        return f"Decide first: {first.question}"
    if any(f.state_effect is StateEffect.MIXED for f in report.findings):
        return "It takes over, but results will mix the old and the new meaning."
    if worst is Outcome.NO_EFFECT:
        return "It takes over; some changes have no effect, because the state pins the old values."
    if not report.findings and not report.changes:
        return "Both versions are the same."
    return "It takes over where the old version stopped."


def _way(report: Report) -> str:
    """Name the way of the upgrade where there is a choice and the rest did not say it."""
    if report.upgrade is None or report.upgrade.way is UpgradeWay.UNKNOWN:
        return ""
    return f"{HEADLINES[report.upgrade.way]}."


def _rest(report: Report) -> str:
    """Name the other bad outcomes, so that mending the first does not end in the next."""
    counts = Counter(f.outcome for f in report.findings)
    also = [
        f"{counts[o]} {WORDS[o].lower()}"
        for o in (Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN)
        if o is not report.outcome and counts[o]
    ]
    return f"Also: {', '.join(also)}." if also else ""


def headline(finding: Finding) -> str:
    """Return a finding's first sentence."""
    sentence, stop, _ = finding.why.partition(". ")
    return sentence + (stop.strip() or "")
