"""Compare the rollback that was tried with the one that the findings promise."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.model.rehearsal import EngineOutcome, RollbackTrial
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.core.report import Outcome, Report, Rollback

_WORDS = {
    Rollback.SAFE: "the old version runs without a repair",
    Rollback.REPAIRABLE: "the old version runs after a repair",
    Rollback.LOST: "the old version no longer runs",
    Rollback.UNKNOWN: "unknown whether the old version runs",
}
_ORDER = (Rollback.SAFE, Rollback.REPAIRABLE, Rollback.UNKNOWN, Rollback.LOST)


def worst_rollback(found: Iterable[Rollback], *, default: Rollback) -> Rollback:
    """Return the worst of what findings expect; an unknown one is worse than a repair."""
    return max(found, key=_ORDER.index, default=default)


def rollback_of(back: RollbackTrial) -> Rollback:
    """Return what the starts on the touched copy show."""
    if back.outcome is EngineOutcome.RESUMES:
        return Rollback.SAFE
    if back.outcome is EngineOutcome.UNKNOWN or back.repaired is EngineOutcome.UNKNOWN:
        return Rollback.UNKNOWN
    return Rollback.REPAIRABLE if back.repaired is EngineOutcome.RESUMES else Rollback.LOST


def expected_rollback(report: Report) -> Rollback:
    """Return the worst rollback of the findings, or only of those that refuse, if there are any.

    If the new version fails to start, what it would have done to the state does not happen.
    """
    refusals = [f for f in report.findings if f.outcome is Outcome.REFUSES]
    found = [f.rollback for f in refusals or report.findings]
    return worst_rollback(found, default=Rollback.SAFE)


def judge_rollback(report: Report, back: RollbackTrial) -> Judged:
    """Say in one sentence whether the tried rollback is the expected one."""
    expected, found = expected_rollback(report), rollback_of(back)
    if found is Rollback.UNKNOWN:
        return Judged(Agreement.OPEN, f"The rollback was not verified: {_why(back)}.")
    if expected is Rollback.UNKNOWN:
        return Judged(
            Agreement.OPEN,
            f"The rules can't judge the rollback. In the rehearsal, {_WORDS[found]}.",
        )
    if expected is found:
        return Judged(Agreement.AGREE, f"Rules and rehearsal agree: {_WORDS[found]}.")
    why = f"The rules expect that {_WORDS[expected]}. In the rehearsal, {_WORDS[found]}."
    is_partial = found is Rollback.SAFE and (back.is_own_entry or not back.rows_in)
    return Judged(Agreement.OPEN if is_partial else Agreement.DISAGREE, why)


def _why(back: RollbackTrial) -> str:
    why = (
        back.note
        or back.message
        or (
            "the new version changed the copy of the checkpoint, and the old version's start on "
            "this copy did not complete"
        )
    )
    return why.rstrip(".")
