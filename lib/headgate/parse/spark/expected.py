"""Choose the physical plan and the types that the expected state schemas are derived from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.model.schema import Schema
from headgate.parse.spark.anchors import Shape
from headgate.parse.spark.known_leaves import leaf_types, same_session
from headgate.parse.spark.plan import Plan, TypedColumn
from headgate.parse.spark.planned_state import planned_state

_BEST = ("formatted", "physical")
Stores = Mapping[str, tuple[Schema, Schema]]


def expected_state(plans: Sequence[Plan], shapes: Sequence[Shape]) -> Mapping[int, Stores]:
    """Return {operator id: {store: (key, value)}} as the best physical plan implies it.

    `shapes` are those of `plans`, in the same order. Types come from the JSON of the same
    session, else from what the leaves themselves tell; a schema with a column of no known type
    keeps it as None.
    """
    pairs = list(zip(plans, shapes, strict=True))
    for form in _BEST:
        for plan, shape in pairs:
            if plan.form == form:
                return planned_state(plan, _types(shape, pairs))
    return {}


def _types(shape: Shape, pairs: Sequence[tuple[Plan, Shape]]) -> dict[int, TypedColumn]:
    types = leaf_types(shape.resolved.query)
    for plan, other in pairs:
        if plan.types and same_session(shape.resolved.query, other.resolved.query):
            types.update(plan.types)
    return types
