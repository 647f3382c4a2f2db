"""Rules about the state variables of a transformWithState: found by name, read by type."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.state_schema import Schema
from headgate.model.version import OperatorKind
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.state_schema_check import fit
from headgate.rules.spark.facts.state_stores import KEY, VALUE, StorePair, check_is_off, store_pairs
from headgate.rules.spark.facts.state_variables import (
    Evolution,
    Variable,
    evolution,
    moved,
    variables,
)

_OR_REPLAY = "or reprocess the input with a new checkpoint"
_AVRO = "Spark's documentation: state data source, schema evolution of transformWithState (4.x)"


_GIVE_THE_NEW = (
    "Give the new variable another name. If you don't need the old variable's values, delete them "
    "with `handle.deleteIfExists`."
)


@rule("TWS001", outcomes=(Outcome.REFUSES,), remedies=(_GIVE_THE_NEW,))
def variable_type_changed(c: Comparison) -> Iterator[RuleResult]:
    """Spark compares the kind of each state variable with the kind in the checkpoint.

    For example, a ValueState can't become a ListState or MapState under the same name.
    """
    for pair, old, new in _variables(c):
        for name in old.keys() & new.keys():
            if old[name].kind != new[name].kind:
                yield RuleResult(
                    outcome=Outcome.REFUSES,
                    location=pair.location,
                    before=old[name].kind,
                    after=new[name].kind,
                    because=(
                        f"The state variable `{name}` was a {old[name].kind} and is now a "
                        f"{new[name].kind}."
                    ),
                    error_class="STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE",
                    remedy=_GIVE_THE_NEW,
                    scenario="from-scratch",
                )


_KEEP_THE_NAMES = f"Keep the names of the state variables, {_OR_REPLAY}."


@rule("TWS002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_KEEP_THE_NAMES,))
def variable_renamed(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds state variables by name, so a renamed variable starts empty.

    The state of the old name stays in the state store, but no variable reads it.
    """
    for pair, old, new in _variables(c):
        gone, made = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        if gone and made:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.ORPHANED,
                location=pair.location,
                before=gone,
                after=made,
                because=f"State variables removed: {_listed(gone)}. Added: {_listed(made)}.",
                remedy=_KEEP_THE_NAMES,
                scenario="from-scratch",
            )


_IF_ITS_HISTORY = (
    "If the code no longer uses a state variable, call `handle.deleteIfExists`: this deletes its "
    "state."
)


@rule("TWS003", outcomes=(Outcome.RESUMES,), remedies=(_IF_ITS_HISTORY,))
def variable_added_or_removed(c: Comparison) -> Iterator[RuleResult]:
    """A new state variable starts empty, and the other variables keep their state.

    A removed variable's state stays in the state store, but no variable reads it.
    """
    for pair, old, new in _variables(c):
        gone, made = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        if bool(gone) == bool(made):
            continue
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.ORPHANED if gone else StateEffect.EXACT,
            location=pair.location,
            before=sorted(old),
            after=sorted(new),
            because=f"State variables {'removed' if gone else 'added'}: {_listed(gone or made)}.",
            remedy=_IF_ITS_HISTORY if gone else "",
        )


_KEEP_THE_STORED = f"Keep the stored type, widen it, {_OR_REPLAY}."


@rule("TWS004", _AVRO, outcomes=(Outcome.REFUSES,), remedies=(_KEEP_THE_STORED,))
def avro_value_type_changed(c: Comparison) -> Iterator[RuleResult]:
    """With Avro encoding Spark resolves stored values against the new schema by field name.

    Fields may be added, removed, reordered and widened. Widening is possible from int to long,
    float or double, from long to float or double, and from float to double. Spark fails if a type
    changes in another way.
    """
    if check_is_off(c):
        return
    for pair, store, stored, planned in _avro_values(c):
        lost = evolution(stored, planned).unreadable
        if lost:
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                before=stored.describe(),
                after=planned.describe(),
                because=(
                    f"Spark can't convert stored values of {_listed(lost)} in the state variable "
                    f"`{store.name}` to the new type."
                ),
                error_class="STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION",
                remedy=_KEEP_THE_STORED,
                scenario="from-scratch",
            )


_KEEP_THE_NAMES_OF_THE_FIELDS = "Keep the names of the fields."


@rule(
    "TWS005",
    _AVRO,
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES),
    remedies=(_KEEP_THE_NAMES_OF_THE_FIELDS,),
)
def avro_field_renamed(c: Comparison) -> Iterator[RuleResult]:
    """With Avro encoding Spark finds fields by name, so a renamed field loses its history.

    Spark reads null for the new name. If a field is only added or only removed, Headgate assumes
    that you intended the change.
    """
    for pair, store, stored, planned in _avro_values(c):
        found = evolution(stored, planned)
        if found.unreadable or not (found.added or found.dropped):
            continue
        renamed = bool(found.added and found.dropped)
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG if renamed else Outcome.RESUMES,
            state_effect=StateEffect.LOST if renamed else StateEffect.EXACT,
            location=pair.location,
            before=stored.describe(),
            after=planned.describe(),
            because=f"Fields of the state variable `{store.name}`: {_fields(found)}.",
            rollback=Rollback.LOST,
            remedy=_KEEP_THE_NAMES_OF_THE_FIELDS if renamed else "",
            scenario="from-scratch" if renamed else None,
        )


def _fields(found: Evolution) -> str:
    sides = ((found.dropped, "removed"), (found.added, "added"))
    return ", ".join(f"{_listed(names)} {verb}" for names, verb in sides if names)


_KEEP_THE_ORDER = f"Keep the order of the fields, {_OR_REPLAY}."


@rule(
    "TWS010",
    "Spark's layout of UnsafeRow; measured on 4.2.0",
    outcomes=(Outcome.SILENTLY_WRONG,),
    remedies=(_KEEP_THE_ORDER,),
)
def field_order_changed(c: Comparison) -> Iterator[RuleResult]:
    """In UnsafeRow encoding Spark finds a stored field by its position and ignores its name.

    If fields of equal types change their order, they get each other's values.
    """
    for pair, old, new in _variables(c):
        for store in store_pairs(pair):
            if store.evolves or store.name not in old.keys() & new.keys():
                continue
            for part in (KEY, VALUE):
                yield from _exchanged(pair, store, part)
    for pair in c.operators:
        for store in store_pairs(pair) if pair.kind is OperatorKind.MAP_GROUPS else ():
            yield from _exchanged(pair, store, VALUE)


def _exchanged(pair: OperatorPair, store: StorePair, part: str) -> Iterator[RuleResult]:
    stored, planned = store.stored(part), store.planned(part)
    if stored is None or planned is None or fit(stored, planned).refused:
        return
    if names := moved(stored, planned):
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.REINTERPRETED,
            location=pair.location,
            before=stored.describe(),
            after=planned.describe(),
            because=(
                f"The order of fields in state store `{store.name}` changed: {_listed(names)}."
            ),
            remedy=_KEEP_THE_ORDER,
            scenario="from-scratch",
        )


def _variables(
    c: Comparison,
) -> Iterator[tuple[OperatorPair, dict[str, Variable], dict[str, Variable]]]:
    """Yield the operators whose variables both sides' evidence has."""
    for pair in c.operators:
        if pair.kind is OperatorKind.TRANSFORM_WITH_STATE:
            old, new = variables(pair.before), variables(pair.after)
            if old is not None and new is not None:
                yield pair, old, new


def _avro_values(c: Comparison) -> Iterator[tuple[OperatorPair, StorePair, Schema, Schema]]:
    """Yield the stored values that are resolved by name and that both sides' evidence has."""
    for pair, old, new in _variables(c):
        for store in store_pairs(pair):
            stored, planned = store.stored(VALUE), store.planned(VALUE)
            if not store.evolves or stored is None or planned is None:
                continue
            if store.name in old and old[store.name].kind == new[store.name].kind:
                yield pair, store, stored, planned


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{n}`" for n in names)
