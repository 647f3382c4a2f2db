"""What the nodes of a logical plan's JSON say, as explain text prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headgate.parse.spark.plan_json.expression import column_list, expression, expressions
from headgate.parse.spark.plan_json.words import interface, listed_fields, word

Node = Mapping[str, Any]
Detail = Callable[[Node], str]


def _join(node: Node) -> str:
    condition = node.get("condition")
    parts = [word(node.get("joinType")), *([expression(condition)] if condition else [])]
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
    if columns == "[]":
        return "<empty>"
    # The rows are never written: of a stream they are a batch that may be empty.
    return f"{'<empty>, ' if node.get('isStreaming') else ''}{columns}"


def _relation_format(node: Node) -> str:
    found = node.get("relation")
    text = found.get("fileFormat") if isinstance(found, dict) else None
    return word(text).removesuffix("FileFormat").lower() if text else ""


def _aggregate(node: Node) -> str:
    keys, made = (expressions(node[k]) for k in ("groupingExpressions", "aggregateExpressions"))
    return f"[{', '.join(keys)}], [{', '.join(made)}]"


def _list_of(key: str) -> Detail:
    return lambda node: f"[{', '.join(expressions(node[key]))}]"


def _map_groups(node: Node) -> str:
    keys, outputs = (column_list(node[k]) for k in ("groupingAttributes", "outputAttrs"))
    function = expression(node["functionExpr"])
    words = f"{word(node.get('outputMode'))}, {word(node.get('timeout'))}"
    return f"{function}, {keys}, {outputs}, [{listed_fields(node.get('stateType'))}], {words}"


def _transform(node: Node) -> str:
    function = expression(node["functionExpr"])
    outputs = column_list(node["outputAttrs"])
    count = node.get("groupingAttributesLen", 0)
    words = f"{word(node.get('outputMode'))}, {word(node.get('timeMode'))}"
    rows = interface(node["functionExpr"])
    return ", ".join([function, str(count), outputs, words, *([rows] if rows else [])])


def _expand(node: Node) -> str:
    rows = [f"[{', '.join(expressions(p))}]" for p in node["projections"] or []]
    return f"[{', '.join(rows)}], {column_list(node['output'])}"


def _repartition(node: Node) -> str:
    keys = expressions(node.get("partitionExpressions") or [])
    count = node.get("optNumPartitions") or node.get("numPartitions")
    said = [f"[{', '.join(keys)}]"] if keys else []
    said += [str(count)] if isinstance(count, int) else []
    return ", ".join([*said, *(["false"] if node.get("shuffle") is False else [])])


def _generate(node: Node) -> str:
    outer = str(bool(node.get("outer"))).lower()
    return f"{expression(node['generator'])}, {outer}, {column_list(node['generatorOutput'])}"


def _udtf(node: Node) -> str:
    return f"{expression(node['udtf'])}, {column_list(node['resultAttrs'])}"


def _sort(node: Node) -> str:
    return f"[{', '.join(expressions(node['order']))}], {str(bool(node.get('global'))).lower()}"


def _window(node: Node) -> str:
    keys = ("windowExpressions", "partitionSpec", "orderSpec")
    return ", ".join(f"[{', '.join(expressions(node.get(k) or []))}]" for k in keys)


def _rows(node: Node) -> str:
    return f"{expression(node['functionExpr'])}, {column_list(node['output'])}"


def _grouped_rows(node: Node) -> str:
    keys, outputs = column_list(node["groupingAttributes"]), column_list(node["output"])
    return f"{keys}, {expression(node['functionExpr'])}, {outputs}"


def _object(node: Node) -> str:
    """Return the result of a typed function; the JSON has neither the function nor its class."""
    made = expression(node["outputObjAttr"])
    return f", {made}: object"


def _typed_groups(node: Node) -> str:
    words = word(node.get("outputMode")), word(node.get("timeout") or node.get("timeMode"))
    made = f"{expression(node['outputObjAttr'])}: object"
    absent = [] if node.get("hasInitialState") else ["no initial state"]
    return ", ".join(("", column_list(node["groupingAttributes"]), made, *words, *absent))


def _range(node: Node) -> str:
    bounds = ", ".join(str(node.get(k)) for k in ("start", "end", "step"))
    return f"({bounds}) {column_list(node['output'])}"


DETAILS: dict[str, Detail] = {
    "Project": _list_of("projectList"),
    "Filter": lambda node: expression(node["condition"]),
    "Join": _join,
    "Aggregate": _aggregate,
    "EventTimeWatermark": _watermark,
    "StreamingRelation": _streaming,
    "StreamingExecutionRelation": _streaming,
    "StreamingRelationV2": _streaming_v2,
    "LocalRelation": _local,
    "Relation": lambda node: f"{column_list(node['output'])} {_relation_format(node)}".strip(),
    "Deduplicate": _list_of("keys"),
    "DeduplicateWithinWatermark": _list_of("keys"),
    "GlobalLimit": lambda node: expression(node["limitExpr"]),
    "LocalLimit": lambda node: expression(node["limitExpr"]),
    "Expand": _expand,
    "Generate": _generate,
    "RepartitionByExpression": _repartition,
    "Repartition": _repartition,
    "Sort": _sort,
    "Window": _window,
    **dict.fromkeys(("MapInPandas", "MapInArrow", "PythonMapInArrow"), _rows),
    **dict.fromkeys(("FlatMapGroupsInPandas", "FlatMapGroupsInArrow"), _grouped_rows),
    **dict.fromkeys(("MapElements", "MapPartitions", "DeserializeToObject"), _object),
    **dict.fromkeys(("SerializeFromObject", "AppendColumns"), _list_of("serializer")),
    **dict.fromkeys(("FlatMapGroupsWithState", "TransformWithState"), _typed_groups),
    **dict.fromkeys(("ArrowEvalPythonUDTF", "BatchEvalPythonUDTF"), _udtf),
    "CollectMetrics": lambda node: f"{node['name']}, [{', '.join(expressions(node['metrics']))}]",
    "ScriptTransformation": lambda node: f"{node['script']}, {column_list(node['output'])}",
    "LateralJoin": lambda node: word(node.get("joinType")),
    "Range": _range,
    "LogicalRDD": lambda node: f"{column_list(node['output'])}, {node.get('isStreaming')}",
    "InMemoryRelation": lambda node: column_list(node["output"]),
    "CTERelationDef": lambda node: str(node.get("id")),
    "CTERelationRef": lambda node: f"{node.get('cteId')}, true, {column_list(node['output'])}",
    "UpdateEventTimeWatermarkColumn": _watermark,
    "FlatMapGroupsInPandasWithState": _map_groups,
    "TransformWithStateInPandas": _transform,
    "TransformWithStateInPySpark": _transform,
}


def detail(name: str, node: Node) -> str:
    """Return what explain text prints after the name of a node; nothing where it isn't known."""
    known = DETAILS.get(name)
    return known(node) if known else ""
