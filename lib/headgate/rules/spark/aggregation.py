"""Rules about grouped aggregations whose state the engine reads: what the bytes then mean."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import OperatorKind, StatefulOperator
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.aggregation_buffers import Buffer, Carry, buffers, carry
from headgate.rules.spark.facts.changed_keys import REPLAY, SAME_KEY, guarded, hidden
from headgate.rules.spark.facts.expressions import is_time_window, without_names
from headgate.rules.spark.facts.state_keys import KeyChange, key_change
from headgate.rules.spark.facts.state_stores import read_pairs

_KINDS = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)


_KEEP_THE_OLD = (
    f"Keep the old order in groupBy, and reorder the columns after the aggregate. {REPLAY}"
)


@rule(
    "AGG001",
    remedies=(_KEEP_THE_OLD, REPLAY),
    questions=(SAME_KEY,),
)
def grouping_keys(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds a state row by the values of the grouping columns, in their order.

    Other columns of the same types pass Spark's schema check. But no stored key matches any more,
    and totals restart from zero.
    """
    for pair in read_pairs(c, _KINDS):
        old, new = _plain_keys(pair)
        if old is None or new is None:
            continue
        how = key_change(c, old, new)
        if how in (KeyChange.GUARDED, KeyChange.HIDDEN):
            yield guarded(pair, old, new) if how is KeyChange.GUARDED else hidden(pair, old, new)
        if how is not KeyChange.OTHER:
            continue
        swapped = sorted(old) == sorted(new)
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            location=pair.location,
            before=list(old),
            after=list(new),
            because="The grouping columns changed their order."
            if swapped
            else "The query groups by different values of the same types.",
            remedy=_KEEP_THE_OLD if swapped else REPLAY,
            scenario="from-scratch",
        )


_KEEP_THE_ORDER = (
    f"Keep the order of the aggregates and add new ones only with a new checkpoint. {REPLAY}"
)


@rule("AGG002", remedies=(_KEEP_THE_ORDER,))
def buffer_read_as_another(c: Comparison) -> Iterator[RuleResult]:
    """Spark stores aggregation buffers by position, not by name.

    Another function with a buffer of the same type uses the stored value as its own.
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
                    because=f"The stored value of {old} is used as {new}.",
                    rollback=Rollback.LOST if how is Carry.OPAQUE else Rollback.SAFE,
                    remedy=_KEEP_THE_ORDER,
                    scenario="from-scratch",
                )


_IF_TOTALS_MUST = "If totals must be in one unit: start from an empty checkpoint and replay."


@rule("AGG003", remedies=(_IF_TOTALS_MUST,))
def same_function_other_input(c: Comparison) -> Iterator[RuleResult]:
    """The stored value was built with the old expression and continues with the new one.

    New rows count in the new unit; the history stays in the old unit.
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


@rule("AGG006", remedies=(REPLAY,), questions=(_DOES_THE_NEW,))
def opaque_buffer(c: Comparison) -> Iterator[RuleResult]:
    """Some functions store their values as bytes. Spark doesn't check the type inside."""
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


@rule("AGG004")
def buffer_carried_over(c: Comparison) -> Iterator[RuleResult]:
    """The new functions use the same buffers as the old ones, so the history is kept exactly."""
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


_ADD_THE_PLAN = "Add the plan of the version whose plan is missing."
_WHICH_COLUMNS_DOES = (
    "Which columns does the aggregate group by, and which functions does it compute, in both "
    "versions? Their plans show it."
)


@rule("AGG005", remedies=(_ADD_THE_PLAN,), questions=(_WHICH_COLUMNS_DOES,))
def aggregate_not_known(c: Comparison) -> Iterator[RuleResult]:
    """Equal types don't mean equal content: the columns and functions must be compared, too."""
    for pair in read_pairs(c, _KINDS):
        assert pair.before and pair.after
        known = None not in (pair.before.keys, pair.after.keys)
        if known and (_functions_equal(pair) or _same_number(pair)):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=pair.location,
            before=list(pair.before.functions or ()),
            after=list(pair.after.functions or ()),
            because="The evidence does not show the keys and functions of both versions.",
            question=_WHICH_COLUMNS_DOES,
            rollback=Rollback.UNKNOWN,
            remedy=_ADD_THE_PLAN,
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
    old, new = _buffers(pair.before) or (), _buffers(pair.after) or ()
    for b, a in zip(old, new, strict=True):
        if b != a:
            yield b, a, carry(b, a)
