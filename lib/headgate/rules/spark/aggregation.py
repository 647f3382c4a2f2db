"""Rules about grouped aggregations whose state the engine reads: what the bytes then mean."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, StatefulOperator
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.aggregation_buffers import Buffer, Carry, buffers, carried
from headgate.rules.spark.facts.changed_keys import (
    IF_KEYS_CHANGED,
    REPLAY,
    SAME_KEY,
    WERE_NULLS,
    hardly_changed,
)
from headgate.rules.spark.facts.expressions import is_time_window, without_names
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import check_is_off, read_pairs
from headgate.rules.spark.facts.stored_bytes import read_error

_KINDS = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)


_KEEP_THE_OLD = (
    "Keep the old order in groupBy. If the output needs another column order, use `select` after "
    "the aggregation. Or reprocess the input with a new checkpoint."
)


@rule(
    "AGG001",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(_KEEP_THE_OLD, *IF_KEYS_CHANGED),
    questions=(SAME_KEY, WERE_NULLS),
    is_of_state=True,
)
def grouping_keys(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds a state row by the values of the grouping columns, in their order.

    If changed columns have the same types, Spark's schema check passes. But if the columns have
    other values, Spark finds no stored row, and the totals of these keys restart from zero.
    """
    for pair in read_pairs(c, _KINDS):
        old, new = _plain_keys(pair)
        if old is None or new is None:
            continue
        yield from hardly_changed(c, pair, old, new)
        if key_change(c, old, new) is not KeyChange.OTHER:
            continue
        swapped = sorted(old) == sorted(new)
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            location=pair.location,
            before=list(old),
            after=list(new),
            because="The order of the grouping columns changed."
            if swapped
            else "The grouping expressions changed, but not their types.",
            remedy=_KEEP_THE_OLD if swapped else REPLAY,
            scenario="from-scratch",
        )


_KEEP_THE_ORDER = (
    "Keep the aggregate functions and their order, or reprocess the input with a new checkpoint."
)


@rule("AGG002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_ORDER,), is_of_state=True)
def aggregate_function_changed(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores aggregation buffers by position, not by name.

    A different function with a buffer of the same type continues with the stored value, and its
    results are wrong. The same happens if two functions that differ only in their FILTER condition
    swap positions.
    """
    for pair in read_pairs(c, _KINDS):
        for old, new, how in _carried(pair):
            if how in (Carry.REINTERPRETED, Carry.OPAQUE):
                yield RuleResult(
                    outcome=Outcome.SILENTLY_WRONG,
                    state_effect=StateEffect.REINTERPRETED,
                    location=pair.location,
                    before=str(old),
                    after=str(new),
                    because=f"{new} continues with the value that {old} stored.",
                    rollback=Rollback.LOST if how is Carry.OPAQUE else Rollback.SAFE,
                    remedy=_KEEP_THE_ORDER,
                    scenario="from-scratch",
                )


@rule("AGG007", outcomes=(Outcome.REFUSES,), remedies=(_KEEP_THE_ORDER,))
def stored_bytes_not_readable(c: Comparison) -> Iterator[RuleResult]:
    """Some aggregate functions store their values as bytes in a format of their own.

    In the state schema, this is a field of the type binary. So Spark's schema check passes if
    another such function replaces it. The query fails with the first row of a stored key: with
    an exception, or because the JVM crashes.
    """
    for pair in read_pairs(c, _KINDS):
        for old, new, how in _carried(pair):
            if how is Carry.UNREADABLE:
                yield RuleResult(
                    outcome=Outcome.REFUSES,
                    location=pair.location,
                    before=str(old),
                    after=str(new),
                    because=f"{new} can't read the bytes that {old} stored.",
                    error_class=read_error(old.name, new.name),
                    remedy=_KEEP_THE_ORDER,
                    scenario="from-scratch",
                )


_IF_TOTALS_MUST = (
    "If all totals must use the new expression, reprocess the input with a new checkpoint."
)


@rule("AGG003", outcomes=(Outcome.RESUMES,), remedies=(_IF_TOTALS_MUST,))
def aggregate_argument_changed(c: Comparison) -> Iterator[RuleResult]:
    """Stored values were computed with the old expression, and new rows use the new one.

    Results mix both, because Spark doesn't recompute stored values.
    """
    for pair in read_pairs(c, _KINDS):
        for old, new, how in _carried(pair):
            if how is Carry.MIXED:
                yield RuleResult(
                    outcome=Outcome.RESUMES,
                    state_effect=StateEffect.MIXED,
                    location=pair.location,
                    before=str(old),
                    after=str(new),
                    remedy=_IF_TOTALS_MUST,
                    scenario="from-scratch",
                )


_DOES_THE_NEW = (
    "Does the new argument have the same type as the old one? If not, Spark reads the stored "
    "bytes as the wrong type."
)


@rule(
    "AGG006",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(REPLAY,),
    questions=(_DOES_THE_NEW,),
    is_of_state=True,
)
def opaque_buffer(c: Comparison) -> Iterator[RuleResult]:
    """Some functions, such as collect_list and percentile, store their values as bytes.

    Spark doesn't check the type of the values in these bytes.
    """
    for pair in read_pairs(c, _KINDS):
        for old, new, how in _carried(pair):
            if how is Carry.UNKNOWN:
                yield RuleResult(
                    outcome=Outcome.UNKNOWN,
                    location=pair.location,
                    before=str(old),
                    after=str(new),
                    question=_DOES_THE_NEW,
                    remedy=REPLAY,
                    scenario="from-scratch",
                )


@rule("AGG004", outcomes=(Outcome.RESUMES,))
def buffer_carried_over(c: Comparison) -> Iterator[RuleResult]:
    """The new functions store the same values as the old ones, so the new version continues with
    correct state.

    The change itself does no harm. Most other changes of functions lose history or make Spark fail,
    because Spark stores buffers by position. The finding shows that this change was checked.
    """
    for pair in read_pairs(c, _KINDS):
        if pair.before is None or pair.after is None or _functions_equal(pair):
            continue
        if _same_number(pair) and all(how is Carry.EXACT for _, _, how in _carried(pair)):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                location=pair.location,
                before=list(pair.before.functions or ()),
                after=list(pair.after.functions or ()),
            )


_ADD_THE_PLAN = (
    "Add the missing query plan to the evidence, for example the output of df.explain(True)."
)
_WHICH_COLUMNS_DOES = (
    "Which grouping columns and aggregate functions does each version use? The query plan of "
    "each version shows this."
)


_ADD_THE_SCHEMAS = (
    "Add the old version's checkpoint and the output of `headgate capture module:function` to the "
    "evidence. Both show the state schema."
)
_DOES_THE_STATE = (
    "Does the state of the new version have the same number and types of fields as the stored "
    "state? If not, Spark fails to start. If so, the new functions misread the stored values."
)


@rule(
    "AGG005",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_THE_PLAN, _ADD_THE_SCHEMAS),
    questions=(_WHICH_COLUMNS_DOES, _DOES_THE_STATE),
    is_of_state=True,
)
def aggregation_not_known(c: Comparison) -> Iterator[RuleResult]:
    """If types are equal, Spark's schema check passes even if columns or functions changed.

    So Headgate must compare the grouping columns, functions and state schemas of both versions.
    """
    for pair in read_pairs(c, _KINDS):
        assert pair.before and pair.after
        known = None not in (pair.before.keys, pair.after.keys)
        has_buffers = known and None not in (_buffers(pair.before), _buffers(pair.after))
        # Another number of buffers is read where no check is made at all, and reported there.
        if known and (
            _functions_equal(pair) or _same_number(pair) or (has_buffers and check_is_off(c))
        ):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=pair.location,
            before=list(pair.before.functions or ()),
            after=list(pair.after.functions or ()),
            because=(
                "The aggregate functions of the two versions store a different number of values, "
                "and the evidence doesn't show the state schemas of both versions."
                if has_buffers
                else "The evidence doesn't show the grouping columns and functions of both "
                "versions."
            ),
            question=_DOES_THE_STATE if has_buffers else _WHICH_COLUMNS_DOES,
            rollback=Rollback.UNKNOWN,
            remedy=_ADD_THE_SCHEMAS if has_buffers else _ADD_THE_PLAN,
        )


def _plain_keys(pair: OperatorPair) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the keys without time windows, which have rules of their own."""
    assert pair.before and pair.after
    return _without_window(pair.before.keys), _without_window(pair.after.keys)


def _without_window(keys: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if keys is None:
        return None
    return tuple(without_names(k) for k in keys if not is_time_window(k))


def _functions_equal(pair: OperatorPair) -> bool:
    assert pair.before and pair.after
    return pair.before.functions == pair.after.functions


def _buffers(operator: StatefulOperator) -> tuple[Buffer, ...] | None:
    return buffers(operator.functions, operator.extra.get("argument_types", ()))


def _same_number(pair: OperatorPair) -> bool:
    """Say whether both sides' functions are known and store equally many buffers."""
    assert pair.before and pair.after
    old, new = _buffers(pair.before), _buffers(pair.after)
    return old is not None and new is not None and len(old) == len(new)


def _carried(pair: OperatorPair) -> Iterator[tuple[Buffer, Buffer, Carry]]:
    """Yield stored and new buffers that differ, in order; nothing where the numbers differ."""
    assert pair.before and pair.after
    if not _same_number(pair):
        return
    yield from carried(_buffers(pair.before) or (), _buffers(pair.after) or ())
