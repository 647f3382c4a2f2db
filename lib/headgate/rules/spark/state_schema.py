"""Rules about the schema of stored state: what Spark itself checks before the first batch."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.state_schema import Schema
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, Verdict, rule
from headgate.rules.spark.facts.state_schema_check import Fit, fit, only_wider_integers
from headgate.rules.spark.facts.state_stores import KEY, VALUE, StorePair, check_is_off, store_pairs
from headgate.rules.spark.unchanged import unchanged_input

_DOC = "StateSchemaCompatibilityChecker, Spark 3.5-4.2"
_NEW_CHECKPOINT = (
    "Keep the stored schema (same number, order, types and nullability of its fields), "
    "or start from an empty checkpoint and replay."
)


@rule("STA001")
def key_schema(c: Comparison) -> Iterator[Verdict]:
    """Spark compares the key of every state store with the stored one before the first batch.

    Number, order and types must be equal and a field that was stored as not null must stay so;
    names are ignored.
    """
    for pair, store, how in _refused(c, KEY):
        yield _refusal(c, pair, store, how, KEY)


@rule("STA002")
def value_schema(c: Comparison) -> Iterator[Verdict]:
    """Spark compares the value of every state store with the stored one before the first batch.

    Number, order and types must be equal and a field that was stored as not null must stay so;
    names are ignored. Pruning and inferred `isnotnull` filters decide what is stored, so a change
    after the operator or far above it can be the cause.
    """
    for pair, store, how in _refused(c, VALUE):
        if not fit(store.stored(KEY), store.planned(KEY)).refused:
            yield _refusal(c, pair, store, how, VALUE)


@rule("STA003", _DOC)
def schema_not_known(c: Comparison) -> Iterator[Verdict]:
    """Explain text has neither the types nor the nullability of what is stored."""
    for pair in c.operators:
        if pair.kind is None or _opaque(pair) or unchanged_input(c, pair):
            continue
        fits = {fit(s.stored(p), s.planned(p)) for s in store_pairs(pair) for p in (KEY, VALUE)}
        if not fits or (Fit.UNKNOWN in fits and not any(f.refused for f in fits)):
            yield Verdict(
                outcome=Outcome.UNKNOWN,
                where=pair.where,
                because="What the new version will store can't be told from this evidence.",
                question="Which state schema does the new version plan? `headgate capture "
                "module:function` of the new code, or its plan as JSON, tells.",
                rollback=Rollback.UNKNOWN,
                remedy="Capture both versions, or rehearse the new one on a copy of the state.",
            )


@rule("STA004")
def schema_check_switched_off(c: Comparison) -> Iterator[Verdict]:
    """`spark.sql.streaming.stateStore.stateSchemaCheck` is off, so bytes are read as they are."""
    if not check_is_off(c):
        return
    for pair in c.operators:
        for store in store_pairs(pair) if pair.kind else ():
            for part in (KEY, VALUE):
                how = fit(store.stored(part), store.planned(part))
                if how is Fit.NUMBER:
                    yield _unreadable(c, pair, store, part)
                elif how is Fit.TYPE:
                    yield _garbage(pair, store, part)


def _refused(c: Comparison, part: str) -> Iterator[tuple[OperatorPair, StorePair, Fit]]:
    """Yield each operator's first store whose part is refused, as the engine stops there."""
    if check_is_off(c):
        return
    for pair in c.operators:
        if pair.kind is None:
            continue
        for store in store_pairs(pair):
            how = fit(store.stored(part), store.planned(part))
            if how.refused and not (part == VALUE and store.evolves):
                yield pair, store, how
                break


def _refusal(c: Comparison, pair: OperatorPair, store: StorePair, how: Fit, part: str) -> Verdict:
    stored, planned = store.stored(part), store.planned(part)
    return Verdict(
        outcome=Outcome.REFUSES,
        where=pair.where,
        before=stored.describe() if stored else None,
        after=planned.describe() if planned else None,
        because=f"The {part} of state store `{store.name}` differs in the {how.value}."
        if how is not Fit.NULLABLE
        else f"A field in the {part} of state store `{store.name}` is {how.value}.",
        error_class=c.spark.condition(f"STATE_STORE_{part.upper()}_SCHEMA_NOT_COMPATIBLE"),
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


def _unreadable(c: Comparison, pair: OperatorPair, store: StorePair, part: str) -> Verdict:
    stored, planned = store.stored(part), store.planned(part)
    return Verdict(
        outcome=Outcome.REFUSES,
        where=pair.where,
        before=stored.describe() if stored else None,
        after=planned.describe() if planned else None,
        because=f"Rows of `{store.name}` have another number of fields; the row format check "
        "fails in the first task.",
        error_class="CANNOT_LOAD_STATE_STORE",
        remedy="Switch the state schema check on again. " + _NEW_CHECKPOINT,
        scenario="from-scratch",
    )


def _garbage(pair: OperatorPair, store: StorePair, part: str) -> Verdict:
    stored, planned = store.stored(part), store.planned(part)
    if part == VALUE and stored and planned and only_wider_integers(stored, planned):
        return _right_unless_negative(pair, store, stored, planned)
    return Verdict(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        where=pair.where,
        before=stored.describe() if stored else None,
        after=planned.describe() if planned else None,
        because=f"The {part} of `{store.name}` has other types: stored bits are read as them.",
        remedy="Switch the state schema check on again. " + _NEW_CHECKPOINT,
        scenario="from-scratch",
    )


def _right_unless_negative(
    pair: OperatorPair, store: StorePair, stored: Schema, planned: Schema
) -> Verdict:
    return Verdict(
        outcome=Outcome.UNKNOWN,
        where=pair.where,
        before=stored.describe(),
        after=planned.describe(),
        because=f"The value of `{store.name}` has wider integers, and stored bits are read as "
        "them: right for numbers from zero up, wrong for negative ones.",
        question=f"Is any stored number in `{store.name}` negative? The state reader tells.",
        rollback=Rollback.SAFE,
        remedy="Switch the state schema check on again. " + _NEW_CHECKPOINT,
    )


def _opaque(pair: OperatorPair) -> bool:
    """Operators whose state variables no evidence shows have a rule of their own."""
    return pair.kind is not None and pair.kind.value == "transform_with_state"
