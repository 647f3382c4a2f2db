"""What is said of keys that changed less than they seem to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import RuleResult

SAME_KEY = "Does the new expression give the same key as the old one for every row?"
REPLAY = "Reprocess the input with a new checkpoint."


def unknown(pairs: Iterable[OperatorPair], question: str, remedy: str) -> Iterator[RuleResult]:
    """Ask for the keys of the operators whose keys the evidence of a version does not show."""
    for pair in pairs:
        assert pair.before and pair.after
        if pair.before.keys is None or pair.after.keys is None:
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                question=question,
                rollback=Rollback.UNKNOWN,
                remedy=remedy,
            )


def guarded(pair: OperatorPair, old: Sequence[object], new: Sequence[object]) -> RuleResult:
    """Return what becomes of state whose key was null."""
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.MIXED,
        location=pair.location,
        before=list(old),
        after=list(new),
        because="Only null keys change: the new expression replaces null.",
    )


def hidden(pair: OperatorPair, old: Sequence[object], new: Sequence[object]) -> RuleResult:
    """Ask what a user's function makes of the columns that both keys read."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=list(old),
        after=list(new),
        because="A user-defined function computes a state key, and plans don't contain its code.",
        question=SAME_KEY,
        remedy=REPLAY,
        scenario="from-scratch",
    )
