"""Rules about stream-stream joins whose stored rows fit."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, StatefulOperator
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.changed_keys import (
    IF_KEYS_CHANGED,
    SAME_KEY,
    WERE_NULLS,
    hardly_changed,
)
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import is_read

_REPLAY = "Reprocess both inputs with a new checkpoint."


@rule(
    "JOI001",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_REPLAY, *IF_KEYS_CHANGED),
    questions=(SAME_KEY, WERE_NULLS),
    is_of_state=True,
)
def join_keys(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores the rows of both sides by the values of their join keys.

    If changed keys have the same types, Spark's schema check passes, but Spark never finds the rows
    that are stored under the old keys.
    """
    for pair, old, new in _joins(c):
        was, now = (old.keys, old.right_keys), (new.keys, new.right_keys)
        if None in (*was, *now) or _sides_swapped(old, new):
            continue
        # The keys of both sides as one list: what differs in either must differ harmlessly.
        both = _joined(old), _joined(new)
        yield from hardly_changed(c, pair, *both)
        if key_change(c, *both) is not KeyChange.OTHER:
            continue
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            location=pair.location,
            before=[list(k or ()) for k in was],
            after=[list(k or ()) for k in now],
            because="The join key columns changed.",
            remedy=_REPLAY,
            scenario="from-scratch",
        )


_KEEP_THE_SIDES = (
    "Don't swap the sides of the join. If the output needs another column order, use `select` "
    "after the join. Or reprocess both inputs with a new checkpoint."
)


@rule("JOI002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_SIDES,))
def sides_swapped(c: Comparison) -> Iterator[RuleResult]:
    """State is stored by side: if the sides are swapped, Spark reads the left side's rows as the
    right side's.

    Rows in the state then get matches that they must not have, and miss others. If both sides store
    the same types, Spark reports no error, and the results stay wrong until these rows leave the
    state.
    """
    for pair, old, new in _joins(c):
        if _sides_swapped(old, new):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                location=pair.location,
                before=[list(old.keys or ()), list(old.right_keys or ())],
                after=[list(new.keys or ()), list(new.right_keys or ())],
                because="The two sides of the join are swapped.",
                remedy=_KEEP_THE_SIDES,
                scenario="from-scratch",
            )


_KEEP_THE_ORDER = (
    "Keep the order of the columns before the join, or reprocess both inputs with a new checkpoint."
)


@rule("JOI003", outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES), remedies=(_KEEP_THE_ORDER,))
def stored_columns_changed(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores the columns of joined rows by position, not by name.

    If columns of the same type change position, Spark reads stored values into the wrong columns.
    If a column is replaced, stored rows keep the values of the old column. The join emits these
    values with new rows, and Spark reports no error.
    """
    for pair, old, new in _joins(c):
        for side in ("left_columns", "right_columns"):
            was, now = old.extra.get(side), new.extra.get(side)
            if not was or not now or tuple(was) == tuple(now) or _sides_swapped(old, new):
                continue
            swapped = sorted(was) == sorted(now)
            yield _swapped(pair, was, now) if swapped else _other_values(pair, was, now)


@rule("JOI004", outcomes=(Outcome.RESUMES,))
def join_type(c: Comparison) -> Iterator[RuleResult]:
    """All join types store the same rows, and a flag that shows whether a row was matched.

    If the stored schema is compatible, the new join type continues with these rows.
    """
    for pair, old, new in _joins(c):
        if old.join_type and new.join_type and old.join_type != new.join_type:
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                location=pair.location,
                before=old.join_type,
                after=new.join_type,
                because="The join type changed.",
            )


@rule("JOI005", outcomes=(Outcome.RESUMES,))
def join_condition(c: Comparison) -> Iterator[RuleResult]:
    """Spark applies the new condition to stored rows.

    Rows that were evicted under a narrower time range can no longer match.
    """
    for pair, old, new in _joins(c):
        if old.condition != new.condition and not _sides_swapped(old, new):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=old.condition,
                after=new.condition,
                because="The join condition changed.",
            )


_ADD_THE_PLAN = (
    "Add the missing query plan to the evidence, for example the output of df.explain(True)."
)
_WHICH_COLUMNS_DOES = "Which columns are the join keys in each version?"


@rule(
    "JOI006",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_THE_PLAN,),
    questions=(_WHICH_COLUMNS_DOES,),
    is_of_state=True,
)
def join_keys_not_known(c: Comparison) -> Iterator[RuleResult]:
    """If types are equal, Spark's schema check passes even if the join keys changed.

    So Headgate must compare the join keys of both versions.
    """
    for pair, old, new in _joins(c):
        if None in (old.keys, old.right_keys, new.keys, new.right_keys):
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                because="The evidence doesn't show the join keys of both versions.",
                question=_WHICH_COLUMNS_DOES,
                rollback=Rollback.UNKNOWN,
                remedy=_ADD_THE_PLAN,
            )


def _joins(
    c: Comparison,
) -> Iterator[tuple[OperatorPair, StatefulOperator, StatefulOperator]]:
    for pair in c.operators:
        if pair.kind is OperatorKind.STREAM_JOIN and is_read(c, pair):
            assert pair.before and pair.after
            yield pair, pair.before, pair.after


def _joined(operator: StatefulOperator) -> tuple[str, ...]:
    return (*(operator.keys or ()), *(operator.right_keys or ()))


def _sides_swapped(old: StatefulOperator, new: StatefulOperator) -> bool:
    return old.keys != old.right_keys and (old.keys, old.right_keys) == (new.right_keys, new.keys)


def _swapped(pair: OperatorPair, was: list[str], now: list[str]) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        location=pair.location,
        before=list(was),
        after=list(now),
        because=(
            "The order of stored columns with the same types changed: Spark reads stored values "
            "into the wrong columns."
        ),
        remedy=_KEEP_THE_ORDER,
        scenario="from-scratch",
    )


def _other_values(pair: OperatorPair, was: list[str], now: list[str]) -> RuleResult:
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.MIXED,
        location=pair.location,
        before=list(was),
        after=list(now),
        because=(
            "The join now stores different columns. Rows in the state keep the values of the old "
            "columns."
        ),
    )
