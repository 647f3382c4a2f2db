"""What is said of keys that changed less than they seem to."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import RuleResult

SAME_KEY = "Does the new expression give the same key as the old one for every row?"
REPLAY = "Start from an empty checkpoint and replay."


def guarded(pair: OperatorPair, old: Sequence[object], new: Sequence[object]) -> RuleResult:
    """Return what becomes of state whose key was null."""
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.MIXED,
        location=pair.location,
        before=list(old),
        after=list(new),
        because="Only the keys of rows whose key was null change.",
    )


def hidden(pair: OperatorPair, old: Sequence[object], new: Sequence[object]) -> RuleResult:
    """Ask what a user's function makes of the columns that both keys read."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=list(old),
        after=list(new),
        because="A function computes a key, and plans don't contain its code.",
        question=SAME_KEY,
        remedy=REPLAY,
        scenario="from-scratch",
    )
