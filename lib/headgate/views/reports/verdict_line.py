"""The one line of a comparison that a release manager can act on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from headgate.rules.core.report import Finding, Outcome, Report, StateEffect, UpgradeWay
from headgate.views.reports.document import accepted_text, first_sentence
from headgate.views.scene.outcome_words import GLYPHS, MIXED_GLYPH, WORDS

HEADLINES = {
    UpgradeWay.ROLLING: "A rolling restart is enough",
    UpgradeWay.OFFLINE: "Upgrade offline: stop all instances first",
    UpgradeWay.RESET: "No upgrade keeps this state: roll back the change, or reset the application",
    UpgradeWay.UNKNOWN: "The upgrade steps are unknown: first answer the questions in the findings",
}


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """Glyph and word of the outcome, one sentence, and the outcome's word for its hue."""

    outcome: Outcome
    sentence: str
    mixes: bool = False

    @property
    def glyph(self) -> str:
        """The outcome's sign."""
        return MIXED_GLYPH if self.mixes else GLYPHS[self.outcome]

    @property
    def tone(self) -> str:
        """The name of the hue: results that mix two meanings are not as green as others."""
        return StateEffect.MIXED.value if self.mixes else self.outcome.word

    @property
    def word(self) -> str:
        """What the engine does, as a headline."""
        return f"{WORDS[self.outcome]}."


def verdict(report: Report) -> VerdictLine:
    """Return what to do about a report; accepted findings still count."""
    worst = report.outcome
    of_worst = [f for f in report.findings if f.outcome is worst]
    first = next((f for f in of_worst if f.accepted is None), next(iter(of_worst), None))
    said = (_advice(worst, first, report), _way(report), _rest(report))
    return VerdictLine(worst, " ".join(filter(None, said)), _resumes(worst) and is_mixed(report))


def is_mixed(report: Report) -> bool:
    """Say whether results will mix the old and the new meaning."""
    return any(f.state_effect is StateEffect.MIXED for f in report.findings)


def _resumes(worst: Outcome) -> bool:
    return worst <= Outcome.NO_EFFECT


def _advice(worst: Outcome, first: Finding | None, report: Report) -> str:
    if first is not None and first.accepted is not None and not _resumes(worst):
        return _accepted(first)
    if worst is Outcome.REFUSES and first is not None:
        error = f" ({first.error_class})" if first.error_class else ""
        failure = f"the new version will fail to start{error}"
        return f"Do not deploy on this state: {failure}. {first.remedy}"
    if worst is Outcome.SILENTLY_WRONG and first is not None:
        return (
            "Do not deploy on this state: the new version starts but writes wrong results. "
            f"{first.remedy}"
        )
    if worst is Outcome.UNKNOWN and first is not None:
        return f"First answer this question: {first.question}"
    if worst is Outcome.NO_EFFECT:
        mixes = " Results mix the old and the new logic." if is_mixed(report) else ""
        return (
            "The new version resumes. Some changes have no effect, because the checkpoint keeps "
            f"the old values.{mixes}"
        )
    if is_mixed(report):
        return "The new version resumes, but results mix the old and the new logic."
    if not report.findings and not report.changes:
        return "Both versions are the same."
    return "The new version resumes where the old version stopped."


def _accepted(finding: Finding) -> str:
    """Say what still happens although it was accepted: an acceptance fixes nothing."""
    assert finding.accepted is not None
    happens = {
        Outcome.REFUSES: "The new version will fail to start on this state",
        Outcome.SILENTLY_WRONG: "The new version starts but writes wrong results",
    }
    said = happens.get(finding.outcome, f"Open question: {finding.question}").rstrip(".")
    stop = "" if said.endswith("?") else "."
    return f"{said}{stop} {accepted_text(finding.accepted).rstrip('.')}."


def _way(report: Report) -> str:
    """Name the way of the upgrade where there is a choice and the rest did not say it."""
    if report.upgrade is None or report.upgrade.way is UpgradeWay.UNKNOWN:
        return ""
    if report.upgrade.way is UpgradeWay.RESET and not _resumes(report.outcome):
        # The advice says so already.
        return ""
    return f"{HEADLINES[report.upgrade.way]}."


def _rest(report: Report) -> str:
    """Name the other bad outcomes, so that fixing the first does not end in the next."""
    counts = Counter(f.outcome for f in report.findings)
    also = [
        f"{WORDS[o]} ({counts[o]})"
        for o in (Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN)
        if o is not report.outcome and counts[o]
    ]
    return f"Other findings: {', '.join(also)}." if also else ""


def headline(finding: Finding) -> str:
    """Return a finding's first sentence."""
    return first_sentence(finding.why)
