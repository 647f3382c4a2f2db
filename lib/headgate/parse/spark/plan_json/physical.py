"""What the nodes of a physical plan's JSON say, in the words of explain text.

Spark writes no `stateInfo` there: an operator's id and its partitions stay unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.parse.spark.plan_json.expression import column_list, expression, expressions
from headgate.parse.spark.plan_json.words import interface, listed_fields, word

Node = Mapping[str, Any]
_STATE = "state info [ ]"
_MODES = {"Partial": "partial_", "PartialMerge": "merge_"}


@dataclass(frozen=True, slots=True)
class Said:
    """The arguments of a node as a line prints them, and those that `formatted` prints below."""

    detail: str = ""
    fields: dict[str, str] = field(default_factory=dict)


Detail = Callable[[Node], Said]


def _line(*parts: str) -> Said:
    return Said(", ".join(p for p in parts if p))


def _texts(node: Node, key: str) -> str:
    return f"[{', '.join(expressions(node.get(key) or []))}]"


def _aggregate(node: Node) -> Said:
    calls = [_call(e) for e in node["aggregateExpressions"]]
    return Said(
        fields={
            "Keys": _texts(node, "groupingExpressions"),
            "Functions": f"[{', '.join(calls)}]",
            "Results": _texts(node, "resultExpressions"),
        }
    )


def _call(found: list[Any]) -> str:
    """Return an aggregate call with the prefix that explain text gives to its phase."""
    return f"{_MODES.get(word(found[0].get('mode')), '')}{expression(found)}"


def _exchange(node: Node) -> Said:
    return _line(_partitioning(node["outputPartitioning"]), word(node.get("shuffleOrigin")))


def _partitioning(found: Any) -> str:
    if isinstance(found, dict):
        name = word(found)
        keys = expressions(found.get("ordering") or [])
        count = found.get("numPartitions")
    else:
        first = found[0]
        name = str(first.get("class", "")).rpartition(".")[2]
        text = expression(found)
        keys = [text.partition("(")[2].removesuffix(")")] if "(" in text else []
        count = first.get("numPartitions")
    if name == "SinglePartition":
        return name
    inside = ", ".join([*(k for k in keys if k), *([str(count)] if count is not None else [])])
    return f"{name.lower()}({inside})"


def _save(node: Node) -> Said:
    mode, version = word(node.get("outputMode")), str(node.get("stateFormatVersion") or "")
    keys = "keyExpressions" if "keyExpressions" in node else "keyWithoutSessionExpressions"
    return _line(_texts(node, keys), _STATE, mode, "0", "0", version)


def _deduplicate(node: Node) -> Said:
    return _line(_texts(node, "keyExpressions"), _STATE, "0", "0")


def _stream_join(node: Node) -> Said:
    lists = _texts(node, "leftKeys"), _texts(node, "rightKeys")
    version = str(node.get("stateFormatVersion") or "")
    mode = word(node.get("outputMode"))
    return _line(
        *lists, word(node.get("joinType")), _STATE, "0", "0", f"state cleanup [ ], {version}", mode
    )


def _static_join(node: Node) -> Said:
    condition = node.get("condition")
    return Said(
        fields={
            "Left keys": _texts(node, "leftKeys"),
            "Right keys": _texts(node, "rightKeys"),
            "Join type": word(node.get("joinType")),
            "Join condition": expression(condition) if condition else "None",
        }
    )


def _limit(node: Node) -> Said:
    return _line(
        str(node.get("streamLimit") or node.get("limit")), _STATE, word(node.get("outputMode"))
    )


def _top(node: Node) -> Said:
    parts = f"limit={node['limit']}", f"orderBy={_texts(node, 'sortOrder')}"
    return Said(f"({', '.join((*parts, 'output=' + _texts(node, 'projectList')))})")


def _map_groups(node: Node) -> Said:
    lists = column_list(node["groupingAttributes"]), column_list(node["outAttributes"])
    states = f"[{listed_fields(node.get('stateType'))}]"
    version = str(node.get("stateFormatVersion") or "")
    words = word(node.get("outputMode")), word(node.get("timeoutConf"))
    return _line(expression(node["functionExpr"]), *lists, states, _STATE, version, *words)


def _typed_groups(node: Node) -> Said:
    keys, obj = column_list(node["groupingAttributes"]), expression(node["outputObjAttr"])
    version = str(node.get("stateFormatVersion") or "")
    words = word(node.get("outputMode")), word(node.get("timeoutConf") or node.get("timeMode"))
    absent = "" if node.get("hasInitialState") else "no initial state"
    return _line("", keys, f"{obj}: object", _STATE, version, *words, absent)


def _transform(node: Node) -> Said:
    lists = column_list(node["groupingAttributes"]), column_list(node["output"])
    words = word(node.get("outputMode")), word(node.get("timeMode"))
    rows = interface(node["functionExpr"])
    said = (*words, rows) if rows else words
    return _line(expression(node["functionExpr"]), *lists, *said, _STATE)


def _generate(node: Node) -> Said:
    outer = str(bool(node.get("outer"))).lower()
    kept = column_list(node.get("requiredChildOutput") or [])
    return _line(expression(node["generator"]), kept, outer, column_list(node["generatorOutput"]))


def _udtf(node: Node) -> Said:
    lists = (column_list(node[k]) for k in ("requiredChildOutput", "resultAttrs"))
    return _line(expression(node["udtf"]), *lists)


def _expand(node: Node) -> Said:
    rows = [f"[{', '.join(expressions(p))}]" for p in node["projections"] or []]
    return _line(f"[{', '.join(rows)}]", column_list(node["output"]))


def _watermark(node: Node) -> Said:
    return _line(f"{expression(node['eventTime'])}: timestamp", "?")


def _rows(node: Node) -> Said:
    return _line(expression(node["func"]), column_list(node["output"]))


def _grouped_rows(node: Node) -> Said:
    keys = column_list(node["groupingAttributes"])
    return _line(keys, expression(node["func"]), column_list(node["output"]))


def _object(node: Node) -> Said:
    return (
        _line(f"{expression(node['outputObjAttr'])}: object") if "outputObjAttr" in node else Said()
    )


DETAILS: dict[str, Detail] = {
    "Project": lambda n: Said(_texts(n, "projectList")),
    "Filter": lambda n: Said(expression(n["condition"])),
    **dict.fromkeys(("HashAggregate", "SortAggregate", "ObjectHashAggregate"), _aggregate),
    "Exchange": _exchange,
    **dict.fromkeys(("StateStoreSave", "SessionWindowStateStoreSave"), _save),
    **dict.fromkeys(("StreamingDeduplicate", "StreamingDeduplicateWithinWatermark"), _deduplicate),
    "StreamingSymmetricHashJoin": _stream_join,
    **dict.fromkeys(
        (
            "BroadcastHashJoin",
            "SortMergeJoin",
            "ShuffledHashJoin",
            "BroadcastNestedLoopJoin",
            "CartesianProduct",
        ),
        _static_join,
    ),
    "StreamingGlobalLimit": _limit,
    "TakeOrderedAndProject": _top,
    "FlatMapGroupsInPandasWithState": _map_groups,
    **dict.fromkeys(("FlatMapGroupsWithState", "TransformWithState"), _typed_groups),
    **dict.fromkeys(("TransformWithStateInPySpark", "TransformWithStateInPandas"), _transform),
    "Generate": _generate,
    **dict.fromkeys(("ArrowEvalPythonUDTF", "BatchEvalPythonUDTF"), _udtf),
    "Expand": _expand,
    **dict.fromkeys(("EventTimeWatermark", "UpdateEventTimeColumn"), _watermark),
    **dict.fromkeys(("MapInPandas", "MapInArrow"), _rows),
    **dict.fromkeys(("FlatMapGroupsInPandas", "FlatMapGroupsInArrow"), _grouped_rows),
    **dict.fromkeys(
        ("ArrowEvalPython", "BatchEvalPython"),
        lambda n: _line(_texts(n, "udfs"), _texts(n, "resultAttrs")),
    ),
    **dict.fromkeys(
        (
            "FileScan",
            "MicroBatchScan",
            "ContinuousScan",
            "RealTimeStreamScan",
            "BatchScan",
            "RDDScan",
        ),
        lambda node: Said(fields={"Output": column_list(node.get("output") or [])}),
    ),
    **dict.fromkeys(("MapElements", "MapPartitions", "DeserializeToObject"), _object),
    "InMemoryTableScan": lambda n: Said(column_list(n.get("attributes") or [])),
    "SerializeFromObject": lambda n: Said(_texts(n, "serializer")),
    "AppendColumns": lambda n: _line("", _texts(n, "serializer")),
    "Coalesce": lambda n: Said(str(n["numPartitions"])),
    "Sort": lambda n: _line(_texts(n, "sortOrder"), str(bool(n.get("global"))).lower(), "0"),
    "CollectMetrics": lambda n: _line(str(n["name"]), _texts(n, "metricExpressions")),
    "ScriptTransformation": lambda n: _line(str(n["script"]), column_list(n["output"])),
    "Window": lambda n: _line(
        *(_texts(n, k) for k in ("windowExpression", "partitionSpec", "orderSpec"))
    ),
}
_NAMES = {
    "ShuffleExchange": "Exchange",
    "FileSourceScan": "FileScan",
    "SparkScriptTransformation": "ScriptTransformation",
}


def name_of(kind: str) -> str:
    """Return what explain text calls a class that ends in `Exec`."""
    name = kind.removesuffix("Exec")
    return _NAMES.get(name, name)


def said(name: str, node: Node) -> Said:
    """Return what explain text would print of a node; nothing where it isn't known."""
    known = DETAILS.get(name)
    return known(node) if known else Said()
