"""Rules about what a transformWithState's checkpoint remembers: old schemas, and how many."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.state_schema import Schema
from headgate.model.version import OperatorKind, StateStore
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.pinned_settings import effective
from headgate.rules.spark.facts.state_schema_check import fit
from headgate.rules.spark.facts.state_stores import VALUE, StorePair, check_is_off, store_pairs
from headgate.rules.spark.facts.state_variables import Past, evolution, past, variables
from headgate.text.numbers import name_list, plural

_SOURCE = "Spark's StateSchemaCompatibilityChecker; measured on 4.2.0"
_S = "spark.sql.streaming.stateStore."
EVOLUTIONS = _S + "valueStateSchemaEvolutionThreshold"
SCHEMA_FILES = _S + "maxNumStateSchemaFiles"
# What Spark 4.2 uses where a session sets nothing.
_LIMITS = {EVOLUTIONS: 16, SCHEMA_FILES: 128}
_OR_REPLAY = "or reprocess the input with a new checkpoint"
_WITH_INITIAL = "transformWithStateWithInitStateUDF"


_GIVE_THE_VARIABLE = "Give the variable a name that was never used."
_GIVE_THE_VARIABLE_A_NAME = (
    "Give the variable a name that was never used. Or, if you no longer need its old values, "
    "delete it with `handle.deleteIfExists` before you declare it again."
)


@rule(
    "TWS006",
    _SOURCE,
    outcomes=(Outcome.REFUSES, Outcome.RESUMES),
    remedies=(_GIVE_THE_VARIABLE, _GIVE_THE_VARIABLE_A_NAME),
)
def variable_declared_again(c: Comparison) -> Iterator[RuleResult]:
    """A removed state variable stays in the state store, and its schema stays in the checkpoint.

    Spark checks a new variable of the same name against that schema. The new variable starts with
    the old values, unless `handle.deleteIfExists` deleted them.
    """
    for pair in _operators(c):
        made = {s.store: s for s in (pair.after.stores if pair.after else ())}
        declared = variables(pair.before) or {}
        for name, schemas in past(pair.before).items():
            if name in made and name not in declared:
                yield _came_back(c, pair, made[name], schemas)


def _came_back(
    c: Comparison, pair: OperatorPair, store: StateStore, schemas: tuple[Past, ...]
) -> RuleResult:
    error = None if check_is_off(c) else _refusal(pair, store, schemas)
    return RuleResult(
        outcome=Outcome.REFUSES if error else Outcome.RESUMES,
        state_effect=None if error else StateEffect.MIXED,
        location=pair.location,
        before=schemas[-1].value.describe(),
        after=store.value_schema.describe() if store.value_schema else None,
        because=(
            f"State variable `{store.store}` was removed earlier, and is declared again with a "
            "different schema."
        )
        if error
        else f"State variable `{store.store}` was removed earlier, and is declared again. It "
        "starts with its old values, unless these values were deleted.",
        error_class=error,
        remedy=_GIVE_THE_VARIABLE if error else _GIVE_THE_VARIABLE_A_NAME,
        scenario="from-scratch" if error else None,
    )


def _refusal(pair: OperatorPair, store: StateStore, schemas: tuple[Past, ...]) -> str | None:
    """Return the condition by which Spark refuses the schema of a variable, None where it fits."""
    last = schemas[-1]
    if fit(last.key, store.key_schema).refused:
        return "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
    if store.value_schema is None:
        return None
    if _by_name(pair):
        lost = any(evolution(s.value, store.value_schema).unreadable for s in schemas)
        return "STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION" if lost else None
    refused = fit(last.value, store.value_schema).refused
    return "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" if refused else None


_KEEP_A_TYPE = (
    f"Use a type that can read all stored types, give the variable another name, {_OR_REPLAY}."
)


@rule("TWS007", _SOURCE, outcomes=(Outcome.REFUSES,), remedies=(_KEEP_A_TYPE,))
def older_values_not_readable(c: Comparison) -> Iterator[RuleResult]:
    """With Avro encoding a new schema must be able to read every schema that a value ever had.

    Spark doesn't know whether values of an older schema still exist, so a widened type can't be
    narrowed again.
    """
    if check_is_off(c):
        return
    for pair, store, planned in _evolving(c):
        stored = store.stored(VALUE)
        if stored in (None, planned) or evolution(stored, planned).unreadable:
            continue
        for old in past(pair.before).get(store.name, ()):
            if lost := evolution(old.value, planned).unreadable:
                yield RuleResult(
                    outcome=Outcome.REFUSES,
                    location=pair.location,
                    before=old.value.describe(),
                    after=planned.describe(),
                    because=(
                        f"The state variable `{store.name}` may still have values in an older "
                        "schema. Spark can't convert their types to the new types of "
                        f"{name_list(lost)}."
                    ),
                    error_class="STATE_STORE_INVALID_VALUE_SCHEMA_EVOLUTION",
                    remedy=_KEEP_A_TYPE,
                    scenario="from-scratch",
                )
                break


_SET_HIGHER = "Raise {key}."


@rule("TWS008", _SOURCE, outcomes=(Outcome.REFUSES,), remedies=(_SET_HIGHER,))
def state_schema_limit_reached(c: Comparison) -> Iterator[RuleResult]:
    """Spark limits how often a value's schema evolves, and how many schema files an operator has.

    `spark.sql.streaming.stateStore.valueStateSchemaEvolutionThreshold` limits the evolutions
    (default 16). `spark.sql.streaming.stateStore.maxNumStateSchemaFiles` limits the schema files
    (default 128): Spark checks this limit if a variable is added or removed. Spark fails if the new
    version reaches the first limit or exceeds the second.
    """
    if check_is_off(c):
        return
    yield from _evolved_too_often(c)
    for pair in _operators(c):
        assert pair.before and pair.after
        files, most = pair.before.extra.get("schema_files"), _limit(c, SCHEMA_FILES)
        old, new = ({s.store for s in o.stores} for o in (pair.before, pair.after))
        if files is not None and files == most and old != new:
            yield _too_many(
                pair,
                f"The number of schema files has reached the limit: {SCHEMA_FILES}={most}.",
                "STATE_STORE_STATE_SCHEMA_FILES_THRESHOLD_EXCEEDED",
                SCHEMA_FILES,
            )


def _evolved_too_often(c: Comparison) -> Iterator[RuleResult]:
    most = _limit(c, EVOLUTIONS)
    for pair, store, planned in _evolving(c):
        assert pair.before
        evolved = (pair.before.extra.get("evolved") or {}).get(store.name, 0)
        if store.stored(VALUE) != planned and evolved + 1 >= most:
            yield _too_many(
                pair,
                (
                    f"The schema of the state variable `{store.name}` has evolved "
                    f"{plural(evolved, 'time')}. With this change, it reaches the limit: "
                    f"{EVOLUTIONS}={most}."
                ),
                "STATE_STORE_VALUE_SCHEMA_EVOLUTION_THRESHOLD_EXCEEDED",
                EVOLUTIONS,
            )


def _too_many(pair: OperatorPair, because: str, error: str, key: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        because=because,
        error_class=error,
        remedy=_SET_HIGHER.format(key=key),
        scenario="offline-upgrade",
    )


def _limit(c: Comparison, key: str) -> int:
    limit = effective(c.after, key) or ""
    return int(limit) if limit.isdecimal() else _LIMITS[key]


_TO_LOAD_ANOTHER = (
    "For a different initial state, or for none, start the new version with a new checkpoint."
)


@rule(
    "TWS009",
    "Spark's IncrementalExecution; measured on 4.2.0",
    outcomes=(Outcome.NO_EFFECT,),
    remedies=(_TO_LOAD_ANOTHER,),
)
def initial_state_ignored(c: Comparison) -> Iterator[RuleResult]:
    """Spark reads initial state only in the first batch of a new checkpoint.

    Initial rows that you add never reach the state, so results lack them. Initial rows that you
    remove stay in the state. Spark reports no error in either case.
    """
    for pair in _operators(c):
        assert pair.before and pair.after
        old, new = (o.extra.get("function") for o in (pair.before, pair.after))
        if None in (old, new) or old == new or _WITH_INITIAL not in (old, new):
            continue
        came = new == _WITH_INITIAL
        yield RuleResult(
            outcome=Outcome.NO_EFFECT,
            location=pair.location,
            before=None if came else "initial state",
            after="initial state" if came else None,
            because="Spark doesn't load the added initial state."
            if came
            else "The initial state was removed, but its rows stay in the state.",
            rollback=Rollback.SAFE,
            remedy=_TO_LOAD_ANOTHER,
            scenario="from-scratch",
        )


def _operators(c: Comparison) -> Iterator[OperatorPair]:
    yield from (p for p in c.operators if p.kind is OperatorKind.TRANSFORM_WITH_STATE)


def _evolving(c: Comparison) -> Iterator[tuple[OperatorPair, StorePair, Schema]]:
    """Yield the stores whose values are read by name, with the value schema that is planned."""
    for pair in _operators(c):
        for store in store_pairs(pair):
            planned = store.planned(VALUE)
            if store.evolves and planned is not None:
                yield pair, store, planned


def _by_name(pair: OperatorPair) -> bool:
    return any(s.encoding == "avro" for s in (pair.before.stores if pair.before else ()))
