"""The stateful operators of a query, from its canonical shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headgate.model.stateful_operators import OPERATOR_KINDS
from headgate.model.version import OperatorKind, StatefulOperator, StateStore, Watermark, Window
from headgate.parse.spark.explain.arguments import whole
from headgate.parse.spark.explain.printed_plan import PHYSICAL
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.operators.canonical import Anchor, Shape
from headgate.parse.spark.operators.facts import Facts, attribute_ids
from headgate.parse.spark.operators.relation import STATEFUL, Relation, StateInfo

_BY_KIND: dict[OperatorKind, str] = {
    kind: name
    for name, kind in reversed(OPERATOR_KINDS.items())
    if kind is not OperatorKind.MAP_GROUPS
}
_BY_OPERATOR = {
    "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
    "FlatMapGroupsWithState": "flatMapGroupsWithState",
    "TransformWithState": "transformWithStateExec",
    "TransformWithStateInPandas": "transformWithStateInPandasExec",
}
_BY_INTERFACE = {
    "row": "transformWithStateInPySparkExec",
    "pandas": "transformWithStateInPandasExec",
}
# How explain text prints a column that carries a watermark; a plan's JSON leaves it out.
_MARK = re.compile(r"#\d+L?-T\d+ms\b")
_WITHOUT_MARKS = ("json", "executed", "parsed")
JOIN_STORES = (
    "left-keyToNumValues",
    "left-keyWithIndexToValue",
    "right-keyToNumValues",
    "right-keyWithIndexToValue",
)
_JOIN_STORES_BY_TIME = (
    "left-keyWithTsToValues",
    "left-tsWithKey",
    "right-keyWithTsToValues",
    "right-tsWithKey",
)


def stateful_operators(shape: Shape, mode: str | None) -> dict[str, StatefulOperator]:
    """Return the stateful operators by node id, in the order of Spark's ids.

    `mode` is the query's output mode where it is known; in complete mode a limit of what an
    aggregate gives keeps no state.
    """
    found = [a for a in shape.anchors.values() if _is_stateful(a, shape, mode)]
    numbered = sorted(found, key=lambda a: _number(a))
    shift = {a.id: n for n, a in enumerate(numbered)}
    return {a.id: _operator(a, shape, mode, shift[a.id]) for a in numbered}


def _number(anchor: Anchor) -> int:
    number = anchor.facts.operator_id
    return len(STATEFUL) * 1000 if number is None else number


def _is_stateful(anchor: Anchor, shape: Shape, mode: str | None) -> bool:
    relation = anchor.relation
    if relation is None or anchor.word not in STATEFUL:
        return False
    if anchor.word == "limit" and _is_of_result(anchor, shape, mode):
        return False
    if anchor.word == "limit" and relation.state is None and relation.name == "GlobalLimit":
        return bool(relation.streaming) and shape.resolved.query.form not in PHYSICAL
    if "aggregate" in anchor.word and shape.resolved.query.form in PHYSICAL:
        return bool(relation.state)
    return bool(relation.state) or bool(relation.streaming)


def _is_of_result(limit: Anchor, shape: Shape, mode: str | None) -> bool:
    """Whether a limit cuts a whole result: one below every aggregate counts rows in any mode.

    Source: `SparkStrategies.StreamingGlobalLimitStrategy`, `hasNoStreamingAgg`.
    """
    if mode != "Complete" and not (mode is None and _is_whole(limit)):
        return False
    waiting = list(limit.inputs)
    while waiting:
        below = shape.anchors[waiting.pop()]
        if "aggregate" in below.word and below.relation and below.relation.streaming:
            return True
        waiting += below.inputs
    return False


def _is_whole(limit: Anchor) -> bool:
    """Whether a limit must be of a whole result, although its plan says Append.

    A plan from before the start always says so; Spark sorts a stream's result only in complete
    mode.
    """
    return any(inlet.orders for inlet in limit.inlets)


def _operator(anchor: Anchor, shape: Shape, mode: str | None, number: int) -> StatefulOperator:
    facts, relation = anchor.facts, anchor.relation
    assert relation is not None
    state = relation.state or StateInfo()
    mark = watermark_above(anchor, shape)
    kind = OperatorKind(anchor.word)
    return StatefulOperator(
        kind=kind,
        name=_name(relation, kind),
        operator_id=number,
        node=anchor.id,
        keys=_known_texts(facts.keys) if kind is not OperatorKind.LIMIT else None,
        right_keys=_known_texts(facts.right_keys) if kind is OperatorKind.STREAM_JOIN else None,
        functions=_known_texts(facts.functions) if "aggregate" in anchor.word else None,
        join_type=relation.join_type if kind is OperatorKind.STREAM_JOIN else None,
        condition=_condition(facts.conditions),
        window=window_of(facts.keys) if _known_texts(facts.keys) is not None else None,
        watermark_column=mark.column if mark else None,
        watermark_delay=mark.delay if mark else None,
        output_mode=mode,
        stores=_stores(kind, state, anchor.id, number),
        extra=_extra(relation, state, facts) | _marked(relation, mark, shape),
    )


def _name(relation: Relation, kind: OperatorKind) -> str | None:
    """Return the engine's word; rows and pandas run in one node, which may not say which it is."""
    if relation.name == "TransformWithStateInPySpark":
        return _BY_INTERFACE.get(relation.extra.get("interface") or "")
    return _BY_OPERATOR.get(relation.name) or _BY_KIND.get(kind)


def _known_texts(terms: tuple[Term, ...]) -> tuple[str, ...] | None:
    """Return the texts; None where the plan does not say what one of the columns is."""
    return None if any(attribute_ids(t) for t in terms) else _texts(terms)


def _texts(terms: tuple[Term, ...]) -> tuple[str, ...]:
    return tuple(t.text for t in terms)


def _condition(terms: tuple[Term, ...]) -> str | None:
    """Join conditions by AND in an order of their own: AND has none."""
    return " AND ".join(sorted(t.text for t in terms)) or None


def _extra(relation: Relation, state: StateInfo, facts: Facts) -> dict[str, Any]:
    """Return what only some kinds have; settings print as Spark's own words."""
    keys = ("limit", "timeout", "time_mode", "function", "state_type")
    out: dict[str, Any] = {k: relation.extra[k] for k in keys if k in relation.extra}
    if (limit := whole(str(out.get("limit")))) is not None:
        out["limit"] = limit
    if state.format is not None:
        out["state_format"] = state.format
    if mode := relation.extra.get("output_mode"):
        out["operator_output_mode"] = mode
    if relation.kind in ("map_groups", "transform_with_state"):
        out["outputs"] = tuple(c.name for c in relation.outputs)
    for side, terms in zip(("left_columns", "right_columns"), facts.stored, strict=False):
        out[side] = list(_texts(terms))
    return out


def _marked(relation: Relation, mark: Watermark | None, shape: Shape) -> dict[str, bool]:
    """Return whether a key carries the watermark upstream; nothing where the plan can't show it.

    Spark marks the column that `withWatermark` names, and what is made of it further down. A
    column that was made before carries no mark, and nothing is evicted by it.
    """
    if mark is None or shape.resolved.query.form in _WITHOUT_MARKS or not relation.keys:
        return {}
    return {"keys_carry_watermark": any(_MARK.search(k) for k in relation.keys)}


def _stores(kind: OperatorKind, state: StateInfo, node: str, number: int) -> tuple[StateStore, ...]:
    """Return the stores that the operator will have: a join four, by the format of its state."""
    names: tuple[str, ...] = ("default",)
    # The third format keeps them as column families of one store, under the same names.
    if kind is OperatorKind.STREAM_JOIN:
        names = _JOIN_STORES_BY_TIME if state.format == "4" else JOIN_STORES
    if kind is OperatorKind.TRANSFORM_WITH_STATE:
        names = ("default",)
    return tuple(
        StateStore(
            store=name,
            operator_id=number,
            partitions=state.partitions,
            format=state.format,
            node=node,
        )
        for name in names
    )


def window_of(keys: tuple[Term, ...]) -> Window | None:
    """Return the time window among grouping keys; durations in microseconds."""
    for key in keys:
        if key.kind == "call" and key.name == "session_window" and len(key.args) == 2:
            return Window(column=key.args[0].text, session_gap=key.args[1].text)
        if key.kind == "call" and key.name == "window" and len(key.args) == 4:
            size, slide, start = (whole(a.text) for a in key.args[1:])
            return Window(column=key.args[0].text, size_us=size, slide_us=slide, start_us=start)
    return None


def watermark_above(anchor: Anchor, shape: Shape) -> Watermark | None:
    """Return the nearest watermark upstream of an operator, the left input's first."""
    queue = list(anchor.inputs)
    while queue:
        current = shape.anchors[queue.pop(0)]
        if current.word == "watermark":
            return _watermark(current)
        queue.extend(current.inputs)
    return None


def watermarks(shape: Shape) -> tuple[Watermark, ...]:
    """Return all watermarks, left inputs first."""
    found = (a for a in shape.anchors.values() if a.word == "watermark")
    return tuple(w for a in found if (w := _watermark(a)))


def _watermark(anchor: Anchor) -> Watermark | None:
    delay = anchor.relation.extra.get("delay") if anchor.relation else None
    if anchor.facts.column is None:
        return None
    return Watermark(column=anchor.facts.column.text, delay=delay or "unknown", node=anchor.id)


def kind_of(name: str | None, stores: Mapping[str, Any]) -> OperatorKind:
    """Return the kind behind the engine's word for an operator, or behind its stores' names."""
    if name in OPERATOR_KINDS:
        return OPERATOR_KINDS[name]
    if name is None and "left-keyToNumValues" in stores:
        return OperatorKind.STREAM_JOIN
    return OperatorKind.UNKNOWN
