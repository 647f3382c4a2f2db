"""Lower the operators of physical plans: four aggregates, a restore and a save are one operator."""

from __future__ import annotations

import re
from dataclasses import replace

from headgate.parse.spark.explain.arguments import listed, named_arguments, split, whole
from headgate.parse.spark.explain.printed_plan import PHYSICAL, PlanNode
from headgate.parse.spark.operators import logical, stateless
from headgate.parse.spark.operators.builder import Below, Builder, Lowering
from headgate.parse.spark.operators.relation import (
    Column,
    Exchange,
    Relation,
    StateInfo,
    begins,
)

_NUMBER_OF = re.compile(r"numPartitions = (\d{1,9})")
_OPERATOR = re.compile(r"opId = (\d{1,9})")
_PREFIX = re.compile(r"^(?:partial|merge)_")
_CLAUSE = " FILTER (WHERE "
_FULL = re.compile(r"\bfull = (?P<condition>.*?) ?\]?$")


def state_info(parts: list[str]) -> StateInfo:
    """Return what `state info [ ..., opId = 0, ..., numPartitions = 2]` and its like say."""
    text = next((p for p in parts if p.startswith("state info")), "")
    operator, partitions = _OPERATOR.search(text), _NUMBER_OF.search(text)
    return StateInfo(
        operator_id=int(operator[1]) if operator else None,
        partitions=int(partitions[1]) if partitions else None,
        output_mode=next((p for p in parts if p in logical.MODES), None),
        started=bool(text) and "checkpoint = <unknown>" not in text,
    )


def exchange(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """An exchange waits for the operator that needs it; the user's own is a relation."""
    parts = split(node.argument())
    made = _partitioning(parts[0] if parts else "")
    below = inputs[0]
    if any(p.startswith(("REPARTITION_BY", "REBALANCE")) for p in parts):
        relation = Relation(
            kind="exchange",
            inputs=(below.relation,),
            outputs=builder.outputs(below),
            exchanges=(replace(made, required=False),),
            line=node.line,
        )
        return builder.add(relation)
    below.exchange = made
    return below


def _partitioning(text: str) -> Exchange:
    if text.startswith("SinglePartition"):
        return Exchange(keys=(), partitions=1)
    _, _, inside = text.partition("(")
    items = split(inside.removesuffix(")"))
    count = whole(items[-1]) if items else None
    return Exchange(keys=tuple(items[:-1] if count is not None else items), partitions=count)


def aggregate(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Take the last aggregation of a chain as the operator; the others are part of it."""
    below = inputs[0]
    keys, functions, outputs = _aggregation(node, builder)
    if not _is_final(functions, below):
        below.partial = True
        below.calls = below.calls or functions
        return below
    functions = _filtered(functions, below.calls)
    made = Relation(
        kind="session_aggregate" if below.session else "aggregate",
        inputs=(below.relation,),
        outputs=outputs,
        keys=keys,
        functions=functions,
        name=node.name,
        exchanges=(below.exchange,),
        state=below.state,
        streaming=True if below.state else None,
        line=node.line,
    )
    return builder.add(made)


def _filtered(functions: tuple[str, ...], partial: tuple[str, ...]) -> tuple[str, ...]:
    """Return final calls with the filters that their partial ones have, in the same order."""
    if len(functions) != len(partial):
        return functions
    clauses = (p.partition(_CLAUSE) for p in partial)
    return tuple(
        f"{call}{_CLAUSE}{clause}" if sign and _CLAUSE not in call else call
        for call, (_, sign, clause) in zip(functions, clauses, strict=True)
    )


def _is_final(functions: tuple[str, ...], below: Below) -> bool:
    if functions:
        return not any(_PREFIX.match(f) for f in functions)
    if below.restored:
        return below.state is not None
    return below.state is not None or (below.partial and below.exchange is not None)


def _aggregation(
    node: PlanNode, builder: Builder
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Column, ...]]:
    if node.fields:
        keys, functions = listed(node.fields.get("Keys", "")), node.fields.get("Functions", "")
        results = logical.columns(node, listed(node.fields.get("Results", "")), builder)
        return tuple(keys), tuple(listed(functions)), results
    found = named_arguments(node.detail)
    keys = listed(found.get("keys") or found.get("key") or "")
    functions = found.get("functions", "")
    calls = tuple(listed(functions))
    return tuple(keys), calls, _guessed(keys, calls, listed(found.get("output", "")))


def _guessed(keys: list[str], calls: tuple[str, ...], outputs: list[str]) -> tuple[Column, ...]:
    """A one-line plan does not say which function makes which column: in order, if as many."""
    ids = {begins(k).id for k in keys}
    rest = [o for o in outputs if begins(o).id not in ids]
    made = dict(zip(rest, calls, strict=True)) if len(rest) == len(calls) else {}
    columns = []
    for output in outputs:
        new = begins(output)
        text = output if new.id in ids else made.get(output)
        columns.append(Column(new.id, new.name, text))
    return tuple(columns)


def state_restore(_node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`StateStoreRestore [k#1], state info [...], 2`: the aggregation below it is not the last.

    Without functions (SELECT DISTINCT) its text is that of a last one, as in a batch.
    """
    below = inputs[0]
    made = builder.relations[below.relation]
    if made.kind == "aggregate" and not made.functions and below.exchange is None:
        below = Below(made.inputs[0], exchange=made.exchanges[0], partial=True)
    below.restored = True
    return below


def state_save(node: PlanNode, inputs: list[Below], _builder: Builder) -> Below:
    """`StateStoreSave [k#1], state info [...], Append, 0, 0, 2`."""
    parts = split(node.argument())
    below = inputs[0]
    found = state_info(parts)
    version = parts[-1] if parts and parts[-1].isdecimal() else None
    columns = tuple(begins(c) for c in listed(node.fields.get("Input", ""))) or None
    below.state = replace(found, format=version, columns=columns)
    below.session = node.name.startswith("Session")
    return below


def merging(_node: PlanNode, inputs: list[Below], _builder: Builder) -> Below:
    """`MergingSessions` belongs to the session aggregation above it."""
    inputs[0].partial = True
    return inputs[0]


def sort(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Add a global sort, the user's. One that the engine needs isn't an operator of the query."""
    parts = split(node.argument())
    if len(parts) > 1 and parts[1] == "true":
        return stateless.sort(node, inputs, builder)
    return inputs[0]


def stream_join(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`StreamingSymmetricHashJoin [lk#1], [rk#2], Inner, condition = [...], state info [...]`."""
    parts = split(node.argument())
    left, right, kind = (*parts[:3], "", "", "")[:3]
    condition = next((p for p in parts if p.startswith("condition = ")), "")
    cleanup = next((n for n, p in enumerate(parts) if p.startswith("state cleanup")), None)
    version = parts[cleanup + 1] if cleanup is not None and len(parts) > cleanup + 1 else None
    made = Relation(
        kind="join",
        inputs=tuple(b.relation for b in inputs),
        outputs=logical.joined(kind, inputs, builder),
        streaming=True,
        name=node.name,
        keys=tuple(listed(left)),
        right_keys=tuple(listed(right)),
        join_type=kind,
        condition=_full(condition),
        exchanges=tuple(b.exchange for b in inputs),
        state=replace(state_info(parts), format=version if (version or "").isdecimal() else None),
        line=node.line,
        extra={"symmetric": "true"},
    )
    return builder.add(made)


def _full(text: str) -> str | None:
    match = _FULL.search(text)
    return match["condition"] if match and match["condition"] != "null" else None


def static_join(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`BroadcastHashJoin [k#1], [k#2], Inner, BuildRight, ...`, also its formatted fields."""
    if node.fields:
        keys, right = node.fields.get("Left keys", ""), node.fields.get("Right keys", "")
        kind = node.fields.get("Join type", "")
        condition = node.fields.get("Join condition")
    else:
        parts = split(node.detail)
        lists = [p for p in parts if p.startswith("[")]
        keys, right = (*lists[:2], "", "")[:2]
        kind = next((p for p in parts if p in _JOIN_TYPES), "")
        condition = next((p for p in parts if p.startswith("(") and "#" in p), None)
    made = Relation(
        kind="join",
        inputs=tuple(b.relation for b in inputs),
        outputs=logical.joined(kind, inputs, builder),
        name=node.name,
        keys=tuple(listed(keys)),
        right_keys=tuple(listed(right)),
        join_type=kind or None,
        condition=None if condition in (None, "None") else condition,
        exchanges=tuple(b.exchange for b in inputs),
        line=node.line,
    )
    return builder.add(made)


def deduplicate(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`StreamingDeduplicate [k#1], state info [...], 0, 0`."""
    parts = split(node.argument())
    within = "Within" in node.name
    return _stateful(
        node,
        "deduplicate_within_watermark" if within else "deduplicate",
        inputs,
        builder,
        keys=tuple(listed(parts[0])) if parts else (),
    )


def limit(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`StreamingGlobalLimit 4, state info [...], Append`."""
    parts = split(node.argument())
    return _stateful(node, "limit", inputs, builder, extra={"limit": parts[0] if parts else ""})


def static_limit(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """`GlobalLimit 4` of a logical plan, a complete-mode query or a static side.

    Of two, one right above the other, the optimiser makes one (`CombineLimits`).
    """
    parts, below = split(node.argument()), inputs[0]
    inner = builder.relations[below.relation]
    if parts and inner.kind == "limit" and not (inner.state or below.exchange):
        builder.relations[below.relation] = replace(inner, extra=_lesser(inner, parts))
        return below
    return _stateful(node, "limit", inputs, builder, extra={"limit": parts[0] if parts else ""})


def _lesser(inner: Relation, outer: list[str]) -> dict[str, str]:
    """Return the inner limit's facts with the smaller of both numbers."""
    limits = [n for n in (outer[0], inner.extra.get("limit", "")) if whole(n) is not None]
    return {**inner.extra, "limit": min(limits, key=int) if len(limits) > 1 else outer[0]}


def _stateful(
    node: PlanNode,
    kind: str,
    inputs: list[Below],
    builder: Builder,
    keys: tuple[str, ...] = (),
    extra: dict[str, str] | None = None,
) -> Below:
    parts = split(node.argument())
    has_state = any(p.startswith("state info") for p in parts)
    made = Relation(
        kind=kind,
        inputs=tuple(b.relation for b in inputs),
        outputs=builder.outputs(inputs[0]),
        streaming=True if has_state else node.streaming,
        name=node.name,
        keys=keys,
        exchanges=tuple(b.exchange for b in inputs),
        state=state_info(parts) if has_state else None,
        line=node.line,
        extra=extra or {},
    )
    return builder.add(made)


def with_state(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """Operators that print alike in both plans; a physical one adds its state."""
    lowered = logical.LOWERINGS[node.name](node, inputs, builder)
    parts = split(node.argument())
    if any(p.startswith("state info") for p in parts):
        at = next(n for n, p in enumerate(parts) if p.startswith("state info"))
        version = parts[at + 1] if len(parts) > at + 1 and parts[at + 1].isdecimal() else None
        is_map = builder.relations[lowered.relation].kind == "map_groups"
        builder.relations[lowered.relation] = replace(
            builder.relations[lowered.relation],
            state=replace(state_info(parts), format=version if is_map else None),
            streaming=True,
        )
    return lowered


def any_sort(node: PlanNode, inputs: list[Below], builder: Builder) -> Below:
    """A logical sort is always the user's."""
    return (
        sort(node, inputs, builder)
        if builder.form in PHYSICAL
        else stateless.sort(node, inputs, builder)
    )


_JOIN_TYPES = frozenset(
    [
        "Inner",
        "LeftOuter",
        "RightOuter",
        "FullOuter",
        "LeftSemi",
        "LeftAnti",
        "Cross",
        "ExistenceJoin",
    ]
)
LOWERINGS: dict[str, Lowering] = {
    "Exchange": exchange,
    "Sort": any_sort,
    "MergingSessions": merging,
    "StreamingSymmetricHashJoin": stream_join,
    "StreamingGlobalLimit": limit,
    "GlobalLimit": static_limit,
    **dict.fromkeys(("HashAggregate", "SortAggregate", "ObjectHashAggregate"), aggregate),
    **dict.fromkeys(("StateStoreRestore", "StateStoreRestoreExec"), state_restore),
    **dict.fromkeys(("StateStoreSave", "SessionWindowStateStoreSave"), state_save),
    **dict.fromkeys(("StreamingDeduplicate", "StreamingDeduplicateWithinWatermark"), deduplicate),
    **dict.fromkeys(
        (
            "BroadcastHashJoin",
            "SortMergeJoin",
            "ShuffledHashJoin",
            "BroadcastNestedLoopJoin",
            "CartesianProduct",
        ),
        static_join,
    ),
    **dict.fromkeys(
        (
            "FlatMapGroupsInPandasWithState",
            "FlatMapGroupsWithState",
            "TransformWithState",
            "TransformWithStateInPandas",
            "TransformWithStateInPySpark",
        ),
        with_state,
    ),
}
