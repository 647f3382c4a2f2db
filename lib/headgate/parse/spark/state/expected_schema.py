"""Choose the physical plan and the types that the expected state schemas are derived from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from headgate.model.state_schema import Schema
from headgate.model.version import StatefulOperator
from headgate.parse.spark.explain.odd_names import plain
from headgate.parse.spark.explain.printed_plan import Plan, TypedColumn
from headgate.parse.spark.expression.type_names import from_sql
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.operators.relation import Query, Relation, same_session
from headgate.parse.spark.state.planned_schema import planned_arguments, planned_state

# KafkaRecordToRowConverter, RateStreamProvider: every column is nullable.
_FIXED: Mapping[str, Mapping[str, str]] = {
    "kafka": {
        "key": "binary",
        "value": "binary",
        "topic": "string",
        "partition": "integer",
        "offset": "long",
        "timestamp": "timestamp",
        "timestampType": "integer",
    },
    "rate": {"timestamp": "timestamp", "value": "long"},
}


def leaf_types(query: Query) -> dict[int, TypedColumn]:
    """Return the types of the columns of sources, by attribute number.

    A streaming file source makes every column nullable unless
    `spark.sql.streaming.fileSource.schema.forceNullable` is false; a static source's nullability is
    unknown here.
    """
    out: dict[int, TypedColumn] = {}
    for relation in query.relations:
        if relation.kind in ("source", "static"):
            known = _known(relation)
            for column in relation.outputs:
                if column.id is not None and column.name in known:
                    nullable = True if relation.streaming else None
                    out[column.id] = TypedColumn(known[column.name], nullable)
    return out


def _known(relation: Relation) -> Mapping[str, Any]:
    if fixed := _FIXED.get(relation.extra.get("format", "")):
        return fixed
    if "read_schema" not in relation.extra:
        return {}
    found = from_sql(relation.extra.get("read_schema", ""))
    if not isinstance(found, dict):
        return {}
    return {str(f["name"]): f["type"] for f in found.get("fields", ())}


T = TypeVar("T")
_BEST = ("formatted", "physical")
Stores = Mapping[str, tuple[Schema, Schema]]


def expected_state(plans: Sequence[Plan], shapes: Sequence[Shape]) -> Mapping[int, Stores]:
    """Return {operator id: {store: (key, value)}} as the best physical plan implies it.

    `shapes` are those of `plans`, in the same order. Types come from the JSON of the same session,
    else from the leaves; a column of unknown type has the type None.
    """
    return _derived(planned_state, plans, shapes)


def expected_arguments(
    plans: Sequence[Plan], shapes: Sequence[Shape]
) -> Mapping[int, tuple[str | None, ...]]:
    """Return {operator id: types of the aggregate functions' first arguments}, None if unknown."""
    return _derived(planned_arguments, plans, shapes)


def _derived(
    derive: Callable[[Plan, Mapping[int, TypedColumn]], Mapping[int, T]],
    plans: Sequence[Plan],
    shapes: Sequence[Shape],
) -> Mapping[int, T]:
    """Derive from the best plan; nothing comes of expressions nested too deep to be typed."""
    chosen = _chosen(plans, shapes)
    try:
        return plain(derive(*chosen)) if chosen else {}
    except RecursionError:
        return {}


def renumbered(
    expected: Mapping[int, T], operators: Mapping[str, StatefulOperator], shape: Shape
) -> dict[int, T]:
    """Return what a plan implies by the numbers that the operators will have.

    A plan that was made before its start is one of append mode, where a limit is an operator with
    a number of its own; in complete mode it keeps no state.
    """
    out: dict[int, T] = {}
    for node, operator in operators.items():
        said = shape.anchors[node].facts.operator_id
        if said is not None and said in expected and operator.operator_id is not None:
            out[operator.operator_id] = expected[said]
    return out


def with_arguments(
    operators: Mapping[str, StatefulOperator], arguments: Mapping[int, tuple[str | None, ...]]
) -> dict[str, StatefulOperator]:
    """Note the types in `extra["argument_types"]` of the operators that have some."""
    out = dict(operators)
    for node, operator in operators.items():
        if kinds := arguments.get(operator.operator_id or 0):
            out[node] = replace(operator, extra={**operator.extra, "argument_types": kinds})
    return out


def _chosen(
    plans: Sequence[Plan], shapes: Sequence[Shape]
) -> tuple[Plan, dict[int, TypedColumn]] | None:
    pairs = list(zip(plans, shapes, strict=True))
    for form in _BEST:
        for plan, shape in pairs:
            if plan.form == form:
                return plan, column_types(shape, pairs)
    return None


def column_types(shape: Shape, pairs: Sequence[tuple[Plan, Shape]]) -> dict[int, TypedColumn]:
    """Return the types of a form's attributes, by number, from it and others of its session."""
    types = leaf_types(shape.resolved.query)
    for plan, other in pairs:
        if plan.types and same_session(shape.resolved.query, other.resolved.query):
            types.update(plan.types)
    return types
