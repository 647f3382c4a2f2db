"""Rules about event-time watermarks."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Version, Watermark
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Location, Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.upstream import is_drawn
from headgate.rules.spark.facts.changed_keys import (
    IF_TIMES_DIFFER,
    NO_WINDOW,
    NULLS_ONLY,
    SAME_TIME,
    of_nulls,
    unsure,
)
from headgate.rules.spark.facts.event_time import (
    AGGREGATES,
    evicts_by_time,
    goes_by_time,
    output_mode,
)
from headgate.rules.spark.facts.expressions import columns
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import is_read

_UNKNOWN = "unknown"
"""The delay of a watermark in a logical plan's JSON, which doesn't show the value."""


@rule("WMK001", outcomes=(Outcome.RESUMES,))
def watermark_added(c: Comparison) -> Iterator[RuleResult]:
    """Spark restores the state. The new watermark starts at 1970-01-01 and advances with the event
    times of new rows.

    The state isn't lost. But once the watermark has advanced, Spark can drop late rows that the old
    version would have processed, and can remove state that is older than the watermark. Results
    then differ from those of the old version.
    """
    if not c.is_stateful or not is_drawn(c.before.topology):
        return
    if len(c.after.watermarks) <= len(c.before.watermarks):
        return
    yield RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        location=Location(None, c.after.watermarks[-1].node),
        before=_listed(c.before.watermarks),
        after=_listed(c.after.watermarks),
        because="A watermark was added.",
    )


@rule("WMK002", outcomes=(Outcome.RESUMES,))
def watermark_delay(c: Comparison) -> Iterator[RuleResult]:
    """The offset log has the current watermark, which never moves back.

    A shorter delay takes effect after the first batch. A longer delay doesn't restore evicted
    state.
    """
    for old, new in _pairs(c):
        if old.delay != new.delay and _UNKNOWN not in (old.delay, new.delay):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
                location=Location(old.node, new.node),
                before=old.delay,
                after=new.delay,
                because="The watermark's delay changed.",
            )


_ADD_A_PLAN = (
    "Add the query plan of a batch with data, or the output of `headgate capture`, to the evidence."
)
_KEEP_THE_WATERMARK = "Keep the watermark, or reprocess the input with a new checkpoint."
_START_FROM_AN_EMPTY = "Reprocess the input with a new checkpoint."
_IS_THE_EVENT = "Is the event time the same column in both versions?"
_HAS_THE_OLD = (
    "Has the old version evicted groups, and can new rows still belong to these groups? If so, "
    "these groups restart from zero, and their results are silently wrong."
)


@rule(
    "WMK003",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_ADD_A_PLAN, _KEEP_THE_WATERMARK, _START_FROM_AN_EMPTY, IF_TIMES_DIFFER),
    questions=(_IS_THE_EVENT, _HAS_THE_OLD, SAME_TIME),
    is_of_state=True,
    is_of_time=True,
)
def event_time(c: Comparison) -> Iterator[RuleResult]:
    """The watermark in the offset log belongs to the old event time.

    With a different event time, Spark drops rows as late or closes groups too early.
    """
    if not c.is_stateful:
        return
    for old, new in _pairs(c):
        if bool(columns(old.column)) != bool(columns(new.column)):
            yield _time_not_known(old, new)
        elif old.column != new.column and not _counts(c):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                location=Location(old.node, new.node),
                before=old.column,
                after=new.column,
                because="The event-time expression changed, but no operator uses it.",
            )
        elif old.column != new.column and not _goes_by_time(c.after):
            # For the operators that went by the old one it is as if there were none any more.
            yield from (
                _removed(c, pair, _ON_ANOTHER_COLUMN)
                for pair in c.operators
                if pair.kind is not None
            )
        elif (how := key_change(c, (old.column,), (new.column,))) is KeyChange.REWRITTEN:
            because = "Different functions now compute the event time."
            sides = Location(old.node, new.node), old.column, new.column
            yield unsure(*sides, because, SAME_TIME)
        elif how in NULLS_ONLY:
            because = f"The two event-time expressions differ only for rows with null. {NO_WINDOW}"
            yield of_nulls(Location(old.node, new.node), old.column, new.column, because)
        elif how is not KeyChange.SAME:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.MIXED,
                location=Location(old.node, new.node),
                before=old.column,
                after=new.column,
                because="The event-time expression changed.",
                remedy=_START_FROM_AN_EMPTY,
                scenario="from-scratch",
            )


def _counts(c: Comparison) -> bool:
    """Say whether an operator of either version drops rows, evicts or fires by the watermark."""
    return _goes_by_time(c.before) or _goes_by_time(c.after)


def _goes_by_time(version: Version) -> bool:
    return any(goes_by_time(o, version.watermarks) for o in version.stateful or ())


def _time_not_known(old: Watermark, new: Watermark) -> RuleResult:
    """A plan without its sources says how the column is called, not where it comes from."""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=Location(old.node, new.node),
        before=old.column,
        after=new.column,
        because="The evidence of one version doesn't show which column its event time comes from.",
        question=_IS_THE_EVENT,
        rollback=Rollback.UNKNOWN,
        remedy=_ADD_A_PLAN,
    )


@rule(
    "WMK004",
    outcomes=(Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_THE_WATERMARK,),
    questions=(_HAS_THE_OLD,),
)
def watermark_removed(c: Comparison) -> Iterator[RuleResult]:
    """Without a watermark Spark never evicts state.

    Spark doesn't restore evicted state. If new rows arrive for an evicted window or key, this
    window or key restarts from zero.
    """
    if not c.is_stateful or c.after.watermarks or not c.before.watermarks:
        return
    if not is_drawn(c.after.topology):
        return
    for pair in c.operators:
        if pair.kind is not None:
            yield _removed(c, pair)


_KEEP_THE_WATERMARK_OR_REHEARSE = "Keep the watermark, or rehearse the new version."
_IS_THE_REMAINING = (
    "One stream has lost its watermark. Is the remaining watermark ahead of this stream's event "
    "time? If so, Spark drops rows of this stream as late. Does an outer join need the removed "
    "watermark?"
)


@rule(
    "WMK005",
    "Spark's documentation of watermarks and Spark's source code (class "
    "UnsupportedOperationChecker); not tested on a running query",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_KEEP_THE_WATERMARK_OR_REHEARSE,),
    questions=(_IS_THE_REMAINING,),
)
def one_of_several_watermarks_removed(c: Comparison) -> Iterator[RuleResult]:
    """Spark uses the slowest watermark for all operators. If that watermark is removed, the query's
    watermark may jump ahead.

    After such a jump, rows count as late and groups close at once. An outer join needs the
    watermark of the side that it waits for. Without that watermark, the query doesn't start.
    """
    old, new = c.before.watermarks, c.after.watermarks
    if not c.is_stateful or not new or len(new) >= len(old) or not is_drawn(c.after.topology):
        return
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        location=Location(old[-1].node, new[-1].node),
        before=_listed(old),
        after=_listed(new),
        because="One of several watermarks was removed.",
        question=_IS_THE_REMAINING,
        rollback=Rollback.SAFE,
        remedy=_KEEP_THE_WATERMARK_OR_REHEARSE,
    )


_DECLARE_IT_FIRST = (
    "Call withWatermark before the column or window is computed from the event time. Or reprocess "
    "the input with a new checkpoint."
)


@rule("WMK006", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_DECLARE_IT_FIRST,))
def key_without_watermark(c: Comparison) -> Iterator[RuleResult]:
    """Spark evicts state only by a column that carries the watermark.

    A column or window that is computed before withWatermark doesn't carry the watermark. With such
    a key, Spark no longer drops late rows and never evicts state. Groups that the old version
    evicted restart from zero.
    """
    if len(c.before.watermarks) != len(c.after.watermarks) or _nothing_evicted(c):
        return
    in_append = output_mode(c.after) == "append"
    for pair in c.operators:
        # In append mode an aggregate without a watermark is refused (MOD001).
        refused = in_append and pair.kind in AGGREGATES
        if refused or not is_read(c, pair) or not pair.before or not pair.after:
            continue
        lost = pair.after.extra.get("keys_carry_watermark") is False and not evicts_by_time(
            pair.after, c.after.watermarks
        )
        if lost and _columns_agree(c) and evicts_by_time(pair.before, c.before.watermarks):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=_listed(c.before.watermarks),
                after=_listed(c.after.watermarks),
                because="The query computes the state key before withWatermark.",
                remedy=_DECLARE_IT_FIRST,
                scenario="from-scratch",
            )


def _columns_agree(c: Comparison) -> bool:
    """Say whether each watermark stays on its column: other columns have a rule of their own."""
    return all(old.column == new.column for old, new in _pairs(c))


def _nothing_evicted(c: Comparison) -> bool:
    """Say whether the old version can't have evicted anything yet."""
    progress = c.before.progress
    return output_mode(c.before) == "complete" or (
        progress is not None and progress.watermark_ms == 0
    )


_GONE = "The watermark was removed."
_ON_ANOTHER_COLUMN = "The watermark is now on a different column, which no stateful operator uses."


def _removed(c: Comparison, pair: OperatorPair, because: str = _GONE) -> RuleResult:
    was, now = _listed(c.before.watermarks), _listed(c.after.watermarks)
    if _nothing_evicted(c) or not evicts_by_time(pair.before, c.before.watermarks):
        return RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT,
            location=pair.location,
            before=was,
            after=now,
            because=because,
        )
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=was,
        after=now,
        because=because,
        question=_HAS_THE_OLD,
        rollback=Rollback.SAFE,
        remedy=_KEEP_THE_WATERMARK,
        scenario="from-scratch",
    )


def _pairs(c: Comparison) -> Iterator[tuple[Watermark, Watermark]]:
    """Pair watermarks by position, if both versions have the same number of them."""
    if len(c.before.watermarks) == len(c.after.watermarks):
        yield from zip(c.before.watermarks, c.after.watermarks, strict=True)


def _listed(watermarks: tuple[Watermark, ...]) -> list[str]:
    return [f"{w.column}, {w.delay}" for w in watermarks]
