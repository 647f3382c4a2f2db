"""What is said of keys that changed less than they seem to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult
from headgate.rules.spark.facts.state_keys import (
    KeyChange,
    Keys,
    key_change,
    with_tables,
    without_nulls,
)

WERE_NULLS = (
    "Has the old version read rows whose key was null or equal to the replacement for null (for "
    "example the second argument of coalesce)?"
)
SAME_TIME = "Does the new expression return the same time as the old one for every row?"
SAME_KEY = "Does the new expression return the same key as the old one for every row?"
# What a time that is another one for null alone means: a row without a time is in no window.
NULLS_ONLY = (KeyChange.GUARDED, KeyChange.FILLED)
NO_WINDOW = (
    "Rows without a time have no window, and don't advance the watermark. So stored windows stay "
    "correct. But if a row has a time in only one version, only this version counts the row."
)
REPLAY = "Reprocess the input with a new checkpoint."
_IF_KEYS_DIFFER = (
    "Rehearse the new version to compare the keys. If keys differ, reprocess the input with a new "
    "checkpoint. If all keys are the same, accept this finding."
)
IF_TIMES_DIFFER = (
    "Rehearse the new version to compare the times. If times differ, reprocess the input with a "
    "new checkpoint. If all times are the same, accept this finding."
)
_IF_THERE_WERE = (
    "If the old version has read rows with a null key, or with the replacement for null as their "
    "key, reprocess the input with a new checkpoint. If not, accept this finding."
)
IF_KEYS_CHANGED = (REPLAY, _IF_KEYS_DIFFER, _IF_THERE_WERE)
_THEN = {SAME_KEY: _IF_KEYS_DIFFER, SAME_TIME: IF_TIMES_DIFFER, WERE_NULLS: _IF_THERE_WERE}


def unknown(
    pairs: Iterable[OperatorPair], keys: str, question: str, remedy: str
) -> Iterator[RuleResult]:
    """Yield a question for each operator whose keys the evidence of a version does not show.

    `keys` is what the operator calls them.
    """
    for pair in pairs:
        assert pair.before and pair.after
        if pair.before.keys is None or pair.after.keys is None:
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                because=f"The evidence doesn't show the {keys} of both versions.",
                question=question,
                rollback=Rollback.UNKNOWN,
                remedy=remedy,
            )


def hardly_changed(c: Comparison, pair: OperatorPair, old: Keys, new: Keys) -> Iterator[RuleResult]:
    """Yield what is said of keys that changed less, or otherwise, than their expressions."""
    how = key_change(c, old, new)
    if how in NULLS_ONLY and without_nulls(c, pair.location, old, new):
        return
    sides = list(with_tables(c.before, old)), list(with_tables(c.after, new))
    if how is KeyChange.GUARDED:
        yield of_nulls(pair.location, *sides, _BY_GUARD)
    elif how is KeyChange.FILLED:
        yield unsure(pair.location, *sides, _BY_NULLS, WERE_NULLS)
    elif how is KeyChange.HIDDEN:
        yield unsure(pair.location, *sides, _BY_FUNCTION)
    elif how is KeyChange.REWRITTEN:
        yield unsure(pair.location, *sides, _BY_REWRITING)
    elif how is KeyChange.NUMBERED:
        yield unsure(pair.location, *sides, _BY_NUMBER)
    elif how is KeyChange.MOVED:
        yield unsure(pair.location, *sides, _BY_LOCATION)
    elif how is KeyChange.TABLE:
        yield _from_other_table(pair, *sides)


_BY_GUARD = (
    "Keys change only for rows in which a key is null, because the two expressions treat null "
    "differently. Spark doesn't find the stored state of these rows."
)
_BY_NULLS = (
    "Keys change only for rows in which a key is null: one of the two expressions replaces null "
    "with a value. "
    "Spark doesn't find the stored state of these rows."
)
_BY_FUNCTION = (
    "A user-defined function computes a state key, and query plans don't contain its code."
)
_BY_REWRITING = (
    "Different functions now compute a state key from the same columns. Query plans don't show "
    "whether these functions return the same values. If the values differ, Spark doesn't find the "
    "stored keys."
)
_BY_NUMBER = (
    "The evidence of one version shows only the position of the field of inline(), not its name. A "
    "capture, or the query plan as JSON, shows the name."
)
_BY_LOCATION = "A state key now comes from a table with the same name in a different location."


def _from_other_table(pair: OperatorPair, old: list[str], new: list[str]) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.ORPHANED,
        location=pair.location,
        before=old,
        after=new,
        because="A state key now comes from a different table.",
        remedy=REPLAY,
        scenario="from-scratch",
    )


def of_nulls(location: Location, before: object, after: object, because: str) -> RuleResult:
    """Return what becomes of state if only a null key or time becomes another one."""
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.MIXED,
        location=location,
        before=before,
        after=after,
        because=because,
    )


def unsure(
    location: Location,
    before: object,
    after: object,
    because: str,
    question: str = SAME_KEY,
) -> RuleResult:
    """Return the question whether stored keys or times stay the same, if no plan shows it."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=location,
        before=before,
        after=after,
        because=because,
        question=question,
        remedy=_THEN[question],
        scenario="from-scratch",
    )
