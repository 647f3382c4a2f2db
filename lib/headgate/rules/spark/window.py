"""Rules about windows over event time in an aggregate."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, Window
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.changed_keys import (
    IF_TIMES_DIFFER,
    NO_WINDOW,
    NULLS_ONLY,
    SAME_TIME,
    of_nulls,
    unsure,
)
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import is_read, keys_fit

_REMEDY = (
    "Reprocess the input with a new checkpoint. Or, before the change, let the old version emit "
    "its open windows: send newer records, which advance the watermark."
)


@rule("WIN001", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_REMEDY,))
def window_size_or_slide_changed(c: Comparison) -> Iterator[RuleResult]:
    """The start and end of a window are part of the key of a state row. Spark doesn't compare the
    length, slide and start of windows with those of the old version.

    The state then has old and new windows side by side, so counts are split between them.
    """
    for pair, old, new in _windows(c):
        if (old.size_us, old.slide_us, old.start_us) != (new.size_us, new.slide_us, new.start_us):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=_describe(old),
                after=_describe(new),
                because="The window's length, slide or start changed.",
                remedy=_REMEDY,
                scenario="from-scratch",
            )


@rule("WIN002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_REMEDY,))
def session_gap(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores the end of each session, which was computed with the old gap.

    Only new rows use the new gap, so sessions are split or merged wrongly.
    """
    for pair, old, new in _windows(c):
        if old.session_gap != new.session_gap:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=old.session_gap,
                after=new.session_gap,
                because="The gap of the session window changed.",
                remedy=_REMEDY,
                scenario="from-scratch",
            )


@rule(
    "WIN003",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_REMEDY, IF_TIMES_DIFFER),
    questions=(SAME_TIME,),
    is_of_state=True,
    is_of_time=True,
)
def window_column(c: Comparison) -> Iterator[RuleResult]:
    """Stored windows use the old time column, and new rows use the new one.

    Results mix two time columns.
    """
    for pair, old, new in _windows(c):
        how = key_change(c, (old.column,), (new.column,))
        if how is KeyChange.REWRITTEN:
            because = "Different functions now compute the window's time column."
            sides = pair.location, old.column, new.column
            yield unsure(*sides, because, SAME_TIME)
        elif how in NULLS_ONLY:
            because = f"The window's two time columns differ only for rows with null. {NO_WINDOW}"
            yield of_nulls(pair.location, old.column, new.column, because)
        elif how is not KeyChange.SAME:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=old.column,
                after=new.column,
                because="The window's time column changed.",
                remedy=_REMEDY,
                scenario="from-scratch",
            )


@rule("WIN004", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_REMEDY,))
def window_added_or_removed(c: Comparison) -> Iterator[RuleResult]:
    """A time window is part of the key of a state row.

    If you add or remove a window, stored rows no longer match the new keys.
    """
    for pair in _read_aggregates(c):
        assert pair.before and pair.after
        known = pair.before.keys is not None and pair.after.keys is not None
        if known and (pair.before.window is None) != (pair.after.window is None):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=_describe(pair.before.window),
                after=_describe(pair.after.window),
                because="The aggregation now has a time window."
                if pair.after.window
                else "The aggregation no longer has a time window.",
                remedy=_REMEDY,
                scenario="from-scratch",
            )


def _read_aggregates(c: Comparison) -> Iterator[OperatorPair]:
    kinds = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)
    yield from (p for p in c.operators if p.kind in kinds and is_read(c, p))


def _windows(c: Comparison) -> Iterator[tuple[OperatorPair, Window, Window]]:
    """Yield windows before and after, even if Spark refuses the value schema.

    If the schema is all that somebody fixes, the other window is the next problem.
    """
    kinds = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)
    for pair in c.operators:
        if pair.kind not in kinds or not (is_read(c, pair) or keys_fit(pair)):
            continue
        assert pair.before and pair.after
        if pair.before.window and pair.after.window:
            yield pair, pair.before.window, pair.after.window


def _describe(window: Window | None) -> str | None:
    if window is None:
        return None
    if window.session_gap:
        return f"session of {window.column}, gap {window.session_gap}"
    parts = [("size", window.size_us), ("slide", window.slide_us), ("start", window.start_us)]
    lengths = ", ".join(f"{name} {us / 1e6:g} s" for name, us in parts if us is not None)
    return f"window over {window.column}: {lengths}"
