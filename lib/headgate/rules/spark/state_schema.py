"""Rules about the schema of stored state: what Spark itself checks before the first batch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from headgate.model.evidence_kinds import HAVE_TYPES
from headgate.model.state_schema import Field, Schema
from headgate.model.topology import Node, Topology
from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.upstream import is_stateless, meaning, never_null, visible
from headgate.rules.spark.facts.event_time import AGGREGATES, output_mode
from headgate.rules.spark.facts.expressions import is_time_window
from headgate.rules.spark.facts.pinned_settings import ANSI, effective
from headgate.rules.spark.facts.state_schema_check import (
    Fit,
    fit,
    now_not_null,
    only_wider_integers,
)
from headgate.rules.spark.facts.state_stores import (
    KEY,
    VALUE,
    StorePair,
    check_is_off,
    format_check_is_off,
    store_pairs,
)

_BY_BYTES = frozenset({"utf8_binary", "unicode"})
_NAMED = re.compile(r"^collate\(.*, (?P<name>\w+)\)$|^string collate (?P<type>\w+)$", re.IGNORECASE)


_USE_A_BINARY_KEY = (
    "Use a key with collation UTF8_BINARY, for example collate(lower(column), 'UTF8_BINARY'), and "
    "start with a new checkpoint."
)


@rule("STA005", outcomes=(Outcome.REFUSES,), remedies=(_USE_A_BINARY_KEY,))
def collation_of_key(c: Comparison) -> Iterator[RuleResult]:
    """Spark finds state by the bytes of its key.

    With some collations, equal values have different bytes. Spark fails if a key has such a
    collation.
    """
    for pair in c.operators:
        if pair.after is None:
            continue
        found = _collation(pair.after)
        if found and (pair.before is None or _collation(pair.before) != found):
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                before=list(pair.before.keys or ()) if pair.before else None,
                after=list(pair.after.keys or ()),
                because=f"The key's collation is {found}.",
                error_class="STATE_STORE_UNSUPPORTED_OPERATION_BINARY_INEQUALITY",
                remedy=_USE_A_BINARY_KEY,
            )


def _collation(operator: StatefulOperator) -> str | None:
    """Return the first collation of a key that bytes don't decide; None where there is none."""
    schemas = [s.key_schema for s in operator.stores if s.key_schema]
    types = [f.type for s in schemas for f in s.fields if isinstance(f.type, str)]
    for text in (*(operator.keys or ()), *(operator.right_keys or ()), *types):
        match = _NAMED.match(text)
        name = (match["name"] or match["type"]) if match else None
        if name and name.lower() not in _BY_BYTES:
            return name
    return None


_RESOLVED = frozenset({"project", "filter"})
"""Operators whose labels may differ, so Headgate compares their details and source columns."""


def unchanged_input(c: Comparison, pair: OperatorPair) -> bool:
    """Say whether an operator, its input and everything below it are the same in both versions.

    Pruning makes the whole graph matter, not only what is above. Equal text of another type
    is possible if the evidence has no types at all.
    """
    return (
        bool(c.before.topology.nodes)
        and _has_types(c.before)
        and _has_types(c.after)
        and _steps(c.before.topology) == _steps(c.after.topology)
        and _columns(c.before) == _columns(c.after)
        and _core(pair.before) == _core(pair.after)
        and not _may_be_null_otherwise(c, pair)
    )


def _may_be_null_otherwise(c: Comparison, pair: OperatorPair) -> bool:
    """Say whether ANSI mode changed under a computed key: the same text may then be nullable."""
    keys = (*(pair.after.keys or ()), *(pair.after.right_keys or ())) if pair.after else ()
    computed = any("(" in k or "[" in k for k in keys if not is_time_window(k))
    old, new = (effective(v, ANSI) for v in (c.before, c.after))
    return computed and (old or "").lower() != (new or "").lower()


def _steps(topology: Topology) -> Counter[tuple[Any, ...]]:
    """Return what all stateless transforms do, whatever they call what they compute."""
    return Counter(_step(n) for n in topology.nodes if is_stateless(n))


def _step(node: Node) -> tuple[Any, ...]:
    if node.operator not in _RESOLVED:
        return meaning(node)
    shown = visible(node)
    computed = shown.pop("columns", None)
    values = sorted(map(str, computed.values())) if isinstance(computed, dict) else computed
    return (node.operator, repr(values), repr(sorted(shown.items())))


def _has_types(version: Version) -> bool:
    """Say whether the types of what is read are known; a version made by hand needs none."""
    if not version.evidence:
        return True
    types_of_sources = [s.column_types for s in version.sources or ()]
    return any(e.kind in HAVE_TYPES for e in version.evidence) and all(
        types is not None and None not in types for types in types_of_sources
    )


def _core(operator: StatefulOperator | None) -> tuple[Any, ...]:
    if operator is None:
        return ()
    o = operator
    return (o.kind, o.keys, o.right_keys, o.functions, o.join_type, o.condition, o.window)


def _columns(version: Version) -> list[Any]:
    """Return names and types: one expression over a column of another type is another."""
    return [(s.columns, s.column_types) for s in version.sources or ()]


_DOC = "Spark's StateSchemaCompatibilityChecker (3.5 to 4.2)"
_NEW_CHECKPOINT = (
    "Keep the stored schema (same number, order, types and nullability of its fields), or "
    "reprocess the input with a new checkpoint."
)


@rule("STA001", outcomes=(Outcome.REFUSES,), remedies=(_NEW_CHECKPOINT,))
def key_schema(c: Comparison) -> Iterator[RuleResult]:
    """Before the first batch Spark compares the key schema of every state store with the stored
    one.

    Number, order and types of fields must be equal, and a field stored as not null must not become
    nullable. Names are ignored.
    """
    for pair, store, how in _refused(c, KEY):
        yield _refusal(c, pair, store, how, KEY)


@rule("STA002", outcomes=(Outcome.REFUSES,), remedies=(_NEW_CHECKPOINT,))
def value_schema(c: Comparison) -> Iterator[RuleResult]:
    """Before the first batch Spark compares the value schema of every state store with the stored
    one.

    Number, order and types of fields must be equal, and a field stored as not null must not become
    nullable. Names are ignored. Column pruning and inferred `isnotnull` filters decide which
    columns are stored. So a change after the operator, or far before it, can be the cause.
    """
    for pair, store, how in _refused(c, VALUE):
        if not fit(store.stored(KEY), store.planned(KEY)).refused:
            yield _refusal(c, pair, store, how, VALUE)


_CAPTURE_BOTH_VERSIONS = (
    "Capture both versions, or rehearse the new version on a copy of the checkpoint."
)
_WHICH_STATE_SCHEMA = (
    "Which state schema does the new version use? `headgate capture module:function` of the new "
    "code, or its query plan as JSON, shows it."
)
_ADD_THE_CHECKPOINT = "Add the checkpoint of the old version, then compare again."
_WHICH_OLD_STATE_SCHEMA = (
    "Which state schema does the old version use? Its checkpoint shows it, or `headgate capture "
    "module:function` of the old code."
)


@rule(
    "STA003",
    _DOC,
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_CAPTURE_BOTH_VERSIONS, _ADD_THE_CHECKPOINT),
    questions=(_WHICH_STATE_SCHEMA, _WHICH_OLD_STATE_SCHEMA),
    is_of_start=True,
)
def schema_not_known(c: Comparison) -> Iterator[RuleResult]:
    """Explain text shows neither the types nor the nullability of stored fields.

    If types, order or number of the fields changed, Spark may fail to start the new version. If two
    fields of the same type were swapped, Spark reads each into the other, and reports no error.
    Without both schemas, Headgate can't exclude either.
    """
    for pair in c.operators:
        if pair.kind is None or _opaque(pair) or unchanged_input(c, pair):
            continue
        fits = {fit(s.stored(p), s.planned(p)) for s in store_pairs(pair) for p in (KEY, VALUE)}
        if not fits or (Fit.UNKNOWN in fits and not any(f.refused for f in fits)):
            is_old = _only_old_is_unknown(pair)
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                because="The evidence doesn't show the state schema of the "
                f"{'old' if is_old else 'new'} version.",
                question=_WHICH_OLD_STATE_SCHEMA if is_old else _WHICH_STATE_SCHEMA,
                rollback=Rollback.UNKNOWN,
                remedy=_ADD_THE_CHECKPOINT if is_old else _CAPTURE_BOTH_VERSIONS,
            )


def _only_old_is_unknown(pair: OperatorPair) -> bool:
    """Whether the evidence shows all of the schema in the new version, but not in the old one."""
    if pair.before is None or pair.after is None:
        return False
    return _is_whole(pair.after) and not _is_whole(pair.before)


def _is_whole(operator: StatefulOperator) -> bool:
    """A schema fits itself unless something in it is unknown."""
    schemas = [x for s in operator.stores for x in (s.key_schema, s.value_schema)]
    return bool(schemas) and all(fit(x, x) is not Fit.UNKNOWN for x in schemas)


_SWITCH_THE_STATE = f"Set spark.sql.streaming.stateStore.stateSchemaCheck=true. {_NEW_CHECKPOINT}"
_IS_ANY_STORED = (
    "Is any stored number in the state store `{store}` negative? Spark's state data source shows "
    "the numbers."
)


@rule(
    "STA004",
    outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_SWITCH_THE_STATE,),
    questions=(_IS_ANY_STORED,),
)
def schema_check_switched_off(c: Comparison) -> Iterator[RuleResult]:
    """`spark.sql.streaming.stateStore.stateSchemaCheck` is off, so Spark reads stored bytes without
    a check.

    The row format check still fails if the number of fields changed. If
    `spark.sql.streaming.stateStore.formatValidation.enabled` is off, too, nothing fails.
    """
    if not check_is_off(c):
        return
    for pair in c.operators:
        for store in store_pairs(pair) if pair.kind else ():
            for part in (KEY, VALUE):
                how = fit(store.stored(part), store.planned(part))
                if how is Fit.NUMBER and not format_check_is_off(c):
                    yield _unreadable(pair, store, part)
                elif how is Fit.NUMBER or how is Fit.TYPE:
                    yield _garbage(pair, store, part)


_KEEP_NULLABLE = (
    "If the old version has stored nulls, keep the columns nullable before the operator, or "
    "reprocess the input with a new checkpoint. If not, accept this finding."
)
_HAS_NULLS = "Has the old version stored null in {fields}?"


@rule("STA006", outcomes=(Outcome.UNKNOWN,), remedies=(_KEEP_NULLABLE,), questions=(_HAS_NULLS,))
def stored_nulls(c: Comparison) -> Iterator[RuleResult]:
    """Spark's schema check lets a nullable stored field become not null, and ignores
    filters. But Spark's generated code doesn't check such a field for null.

    If Spark reads a stored null from a text, binary or nested field, the batch fails with
    NullPointerException. A join reads stored rows when they match or expire. An aggregation reads
    stored keys when a group expires, and in complete mode in each batch.
    """
    for pair in c.operators:
        if not _reads_back(c, pair):
            continue
        is_join = pair.kind is OperatorKind.STREAM_JOIN
        # The keys of an aggregation stay nullable above a filter [run: Spark 4.2.0].
        filtered = _never_null(c.after, pair.location.after) if is_join else frozenset()
        never = _never_null(c.before, pair.location.before)
        for store in store_pairs(pair):
            part = VALUE if is_join else KEY
            stored, planned = store.stored(part), store.planned(part)
            fields = now_not_null(stored, planned, filtered - never)
            names = [f.name for f in fields if not _tolerates_null(f, pair.after)]
            names = [name for name in names if name not in never]
            if names and not fit(stored, planned).refused:
                yield _ask_for_nulls(pair, store, names)


def _reads_back(c: Comparison, pair: OperatorPair) -> bool:
    """Whether the query outputs stored rows; update mode only outputs groups with new rows."""
    if pair.kind is OperatorKind.STREAM_JOIN:
        return True
    is_update = (output_mode(c.after) or "").lower() == "update"
    return pair.kind in AGGREGATES and not is_update


def _never_null(version: Version, operator: str | None) -> frozenset[str]:
    """Return the names of the columns whose nulls a version filters out before an operator."""
    columns = never_null(version.topology, operator)
    return frozenset(column.rpartition(".")[2] for column in columns)


def _tolerates_null(field: Field, after: StatefulOperator | None) -> bool:
    """Whether a null in the field breaks nothing: a window is never null, and a row whose join key
    is null never matches. In a number or time, generated code reads null as zero.
    """
    is_by_reference = field.type in ("string", "binary") or isinstance(field.type, dict)
    if after is None or field.name == "window" or not is_by_reference:
        return True
    keys = (*(after.keys or ()), *(after.right_keys or ()))
    name = re.compile(rf"\b{re.escape(field.name)}\b")
    return after.kind is OperatorKind.STREAM_JOIN and any(map(name.search, keys))


def _ask_for_nulls(pair: OperatorPair, store: StorePair, fields: list[str]) -> RuleResult:
    names = ", ".join(fields)
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=f"{names}: nullable",
        after=f"{names}: not null",
        because=(
            f"State store `{store.name}` may contain null in fields that are never null in the new "
            f"version: {names}."
        ),
        question=_HAS_NULLS.format(fields=names),
        rollback=Rollback.SAFE,
        remedy=_KEEP_NULLABLE,
        scenario="from-scratch",
    )


def _refused(c: Comparison, part: str) -> Iterator[tuple[OperatorPair, StorePair, Fit]]:
    """Yield each operator's first store whose part Spark refuses, as the query fails there."""
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


def _shown(schema: Schema | None) -> str | None:
    return None if schema is None else schema.describe() or "no fields"


def _refusal(
    c: Comparison, pair: OperatorPair, store: StorePair, how: Fit, part: str
) -> RuleResult:
    stored, planned = store.stored(part), store.planned(part)
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        before=_shown(stored),
        after=_shown(planned),
        because=f"The {part} schema of state store `{store.name}` differs in the {how.value}."
        if how is not Fit.NULLABLE
        else f"A field in the {part} of state store `{store.name}` is {how.value}.",
        error_class=c.spark.condition(f"STATE_STORE_{part.upper()}_SCHEMA_NOT_COMPATIBLE"),
        remedy=_NEW_CHECKPOINT,
        scenario="from-scratch",
    )


def _unreadable(pair: OperatorPair, store: StorePair, part: str) -> RuleResult:
    stored, planned = store.stored(part), store.planned(part)
    return RuleResult(
        outcome=Outcome.REFUSES,
        location=pair.location,
        before=_shown(stored),
        after=_shown(planned),
        because=(
            f"The number of fields in state store `{store.name}` changed, so the row format check "
            "fails in the first task."
        ),
        error_class="CANNOT_LOAD_STATE_STORE",
        remedy=_SWITCH_THE_STATE,
        scenario="from-scratch",
    )


def _garbage(pair: OperatorPair, store: StorePair, part: str) -> RuleResult:
    stored, planned = store.stored(part), store.planned(part)
    both = (stored, planned) if stored and planned else None
    other_number = both is not None and len(both[0].fields) != len(both[1].fields)
    if part == VALUE and both and not other_number and only_wider_integers(*both):
        return _right_unless_negative(pair, store, *both)
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        location=pair.location,
        before=_shown(stored),
        after=_shown(planned),
        because=(
            (
                f"The number of {part} fields of state store `{store.name}` changed. The state "
                "schema check and the row format check are off. So Spark decodes stored rows with "
                "the new schema and gets wrong values."
            )
            if other_number
            else f"The {part} types of state store `{store.name}` changed: Spark reads the stored "
            "bytes as the new types."
        ),
        remedy=_SWITCH_THE_STATE,
        scenario="from-scratch",
    )


def _right_unless_negative(
    pair: OperatorPair, store: StorePair, stored: Schema, planned: Schema
) -> RuleResult:
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        location=pair.location,
        before=stored.describe(),
        after=planned.describe(),
        because=(
            f"Integer types in the value of state store `{store.name}` became wider (such as int "
            "-> bigint). Without the schema check, Spark reads stored numbers correctly only if "
            "they aren't negative."
        ),
        question=_IS_ANY_STORED.format(store=store.name),
        rollback=Rollback.SAFE,
        remedy=_SWITCH_THE_STATE,
    )


def _opaque(pair: OperatorPair) -> bool:
    """Operators whose state variables no evidence shows have a rule of their own."""
    return pair.kind is not None and pair.kind.value == "transform_with_state"
