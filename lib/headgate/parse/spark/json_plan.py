"""Read `plan.toJSON` of a logical plan into the same tree that explain text gives, with types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headgate.parse.spark.json_expression import (
    Types,
    collect_types,
    column_list,
    expression,
    expressions,
)
from headgate.parse.spark.plan import Plan, PlanNode

_PLANS = (".plans.", ".execution.", ".streaming.")
Node = Mapping[str, Any]
Detail = Callable[[Node], str]


def is_plan(found: Sequence[Any]) -> bool:
    """Whether a JSON list is a plan: nodes in pre-order, each with a class."""
    first = found[0] if found else None
    return (
        isinstance(first, dict)
        and isinstance(first.get("class"), str)
        and "num-children" in first
        and any(part in first["class"] for part in _PLANS)
    )


def read_json_plan(found: Sequence[Any]) -> Plan:
    """Return the plan; `types` maps its attribute numbers to Spark's JSON types.

    A node that is not as expected costs a warning and keeps its name.
    """
    nodes = [n for n in found if isinstance(n, dict) and isinstance(n.get("class"), str)]
    counts = [_count(n) for n in nodes]
    children = _children(counts)
    warnings: list[str] = []
    made = []
    for index, node in enumerate(nodes):
        made.append(_node(node, children[index], index + 1, warnings))
    types: Types = {}
    collect_types(found, types)
    return Plan("json", tuple(made), tuple(warnings), types)


def _count(node: Node) -> int:
    found = node.get("num-children")
    return found if isinstance(found, int) and found > 0 else 0


def _children(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Return each node's children from the numbers of children in pre-order."""
    children: list[list[int]] = [[] for _ in counts]
    waiting: list[int] = []
    for index, count in enumerate(counts):
        while waiting and len(children[waiting[-1]]) == counts[waiting[-1]]:
            waiting.pop()
        if waiting:
            children[waiting[-1]].append(index)
        if count:
            waiting.append(index)
    return [tuple(c) for c in children]


def _node(node: Node, children: tuple[int, ...], line: int, warnings: list[str]) -> PlanNode:
    name = str(node["class"]).rpartition(".")[2]
    if name == "LogicalRelation":
        name = "Relation"
    detail = _DETAILS.get(name, _nothing)
    try:
        text = detail(node)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        warnings.append(f"node {line}, a {name}, is not as Spark writes it: {error!r}")
        text = ""
    said = node.get("isStreaming")
    streaming = said if isinstance(said, bool) else None
    return PlanNode(name, text, line, children, {}, streaming)


def _nothing(node: Node) -> str:
    return ""


def _word(found: Any) -> str:
    """Return the last word of a Scala object's class: `Inner` of `...plans.Inner$`."""
    if isinstance(found, dict):
        found = found.get("object") or found.get("product-class") or ""
    return str(found or "").rstrip("$").rpartition(".")[2].rpartition("$")[2]


def _join(node: Node) -> str:
    condition = node.get("condition")
    parts = [_word(node.get("joinType")), *([expression(condition)] if condition else [])]
    return ", ".join(parts)


def _watermark(node: Node) -> str:
    column = expression(node["eventTime"])
    delay = node.get("delay")
    return f"{column}: timestamp, {_delay(delay)}"


def _delay(found: Any) -> str:
    """The delay is null in Spark's own JSON; a writer that knows it says it as text."""
    return found if isinstance(found, str) and found else "?"


def _streaming(node: Node) -> str:
    source = str(node.get("sourceName") or "")
    named = f", name={_source_name(node)}" if _source_name(node) else ""
    return f"{source}, {column_list(node['output'])}{named}"


def _source_name(node: Node) -> str:
    found = node.get("sourceIdentifyingName")
    if isinstance(found, dict) and isinstance(found.get("name"), str):
        return str(found["name"])
    return ""


def _streaming_v2(node: Node) -> str:
    source = str(node.get("sourceName") or "")
    return f"provider, {source}, table, [], {column_list(node['output'])}"


def _local(node: Node) -> str:
    columns = column_list(node.get("output") or [])
    return "<empty>" if columns == "[]" else f"{'' if node.get('data') else '<empty>, '}{columns}"


def _relation(node: Node) -> str:
    return f"{column_list(node['output'])} {_relation_format(node)}".strip()


def _relation_format(node: Node) -> str:
    found = node.get("relation")
    text = found.get("fileFormat") if isinstance(found, dict) else None
    return _word(text).removesuffix("FileFormat").lower() if text else ""


def _aggregate(node: Node) -> str:
    keys, made = (expressions(node[k]) for k in ("groupingExpressions", "aggregateExpressions"))
    return f"[{', '.join(keys)}], [{', '.join(made)}]"


def _list_of(key: str) -> Detail:
    return lambda node: f"[{', '.join(expressions(node[key]))}]"


def _map_groups(node: Node) -> str:
    keys, outputs = (column_list(node[k]) for k in ("groupingAttributes", "outputAttrs"))
    function = expression(node["functionExpr"])
    words = f"{_word(node.get('outputMode'))}, {_word(node.get('timeout'))}"
    return f"{function}, {keys}, {outputs}, [{_state_type(node.get('stateType'))}], {words}"


def _state_type(found: Any) -> str:
    fields = found.get("fields", []) if isinstance(found, dict) else []
    return ", ".join(f"StructField({f['name']},{f['type']},{f['nullable']})" for f in fields)


def _transform(node: Node) -> str:
    function = expression(node["functionExpr"])
    outputs = column_list(node["outputAttrs"])
    count = node.get("groupingAttributesLen", 0)
    words = f"{_word(node.get('outputMode'))}, {_word(node.get('timeMode'))}"
    return f"{function}, {count}, {outputs}, {words}"


def _expand(node: Node) -> str:
    rows = [f"[{', '.join(expressions(p))}]" for p in node["projections"]]
    return f"[{', '.join(rows)}], {column_list(node['output'])}"


def _repartition(node: Node) -> str:
    keys = expressions(node.get("partitionExpressions") or [])
    count = node.get("optNumPartitions") or node.get("numPartitions")
    return f"[{', '.join(keys)}]" + (f", {count}" if isinstance(count, int) else "")


def _generate(node: Node) -> str:
    return f"{expression(node['generator'])}, {column_list(node['generatorOutput'])}"


_DETAILS: dict[str, Detail] = {
    "Project": _list_of("projectList"),
    "Filter": lambda node: expression(node["condition"]),
    "Join": _join,
    "Aggregate": _aggregate,
    "EventTimeWatermark": _watermark,
    "StreamingRelation": _streaming,
    "StreamingExecutionRelation": _streaming,
    "StreamingRelationV2": _streaming_v2,
    "LocalRelation": _local,
    "Relation": _relation,
    "Deduplicate": _list_of("keys"),
    "DeduplicateWithinWatermark": _list_of("keys"),
    "GlobalLimit": lambda node: expression(node["limitExpr"]),
    "LocalLimit": lambda node: expression(node["limitExpr"]),
    "Expand": _expand,
    "Generate": _generate,
    "RepartitionByExpression": _repartition,
    "Repartition": _repartition,
    "Sort": _list_of("order"),
    "FlatMapGroupsInPandasWithState": _map_groups,
    "TransformWithStateInPandas": _transform,
    "TransformWithStateInPySpark": _transform,
}
