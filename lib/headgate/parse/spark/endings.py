"""Say whether a printed plan breaks off in its last operator, where brackets alone don't tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headgate.parse.spark.details import Block
from headgate.parse.spark.plan import PlanNode
from headgate.parse.spark.words import first_bracket, opened

_HAS_INPUT = re.compile(
    r"^(?:Project|Filter|TypedFilter|Sort|Expand|Generate|Window|SubqueryAlias|EventTimeWatermark"
    r"|UpdateEventTimeWatermarkColumn|RepartitionByExpression|Repartition|Deduplicate\w*|Distinct"
    r"|\w*Limit|\w*Aggregate|\w*Exchange|\w*Join|\w*EvalPython|MapPartitions\w*|MapElements"
    r"|AppendColumns|SerializeFromObject|DeserializeToObject|StateStore\w+|Streaming\w+Exec"
    r"|StreamingDeduplicate\w*|StreamingSymmetricHashJoin|\w*GroupsWithState\w*"
    r"|TransformWithState\w*|WriteTo\w+)$"
)
"""Operators that are no leaves: the last row of a tree is one."""

_FORMATS = ("json", "parquet", "csv", "orc", "text", "avro", "xml", "binaryFile", "kafka", "rate")
_FORMAT = re.compile(r"^\[.*\] (?P<format>\w+)$", re.DOTALL)

# The last line that Spark prints in an operator's details.
_LAST_FIELD = {
    "Exchange": "Arguments",
    "Filter": "Condition",
    "Project": "Input",
    "Sort": "Arguments",
    "HashAggregate": "Results",
    "ObjectHashAggregate": "Results",
    "SortAggregate": "Results",
    "EventTimeWatermark": "Arguments",
    "FlatMapGroupsInPandasWithState": "Arguments",
    "FlatMapGroupsWithState": "Arguments",
    "StateStoreRestore": "Arguments",
    "StateStoreSave": "Arguments",
    "SessionWindowStateStoreRestore": "Arguments",
    "SessionWindowStateStoreSave": "Arguments",
    "StreamingDeduplicate": "Arguments",
    "StreamingDeduplicateWithinWatermark": "Arguments",
    "StreamingGlobalLimit": "Arguments",
    "StreamingRelation": "Arguments",
    "StreamingSymmetricHashJoin": "Arguments",
    "TransformWithStateInPySpark": "Arguments",
}
_WITH_STATE = frozenset(n for n in _LAST_FIELD if "Stat" in n or n.startswith("Streaming")) - {
    "StreamingRelation"
}


def cut_row(last: PlanNode) -> bool:
    """Say whether the last row of an unnumbered tree is less than Spark prints there."""
    # `k: string, n: bigint` is the result's line, above the tree of an analysed plan.
    if _HAS_INPUT.match(last.name) or last.detail.startswith(": "):
        return True
    if last.name == "FileScan":
        # After the columns stand `Batched:`, `Location:` and others, `ReadSchema:` last.
        rest = first_bracket(last.detail)[2].strip()
        schema = rest.partition("ReadSchema: ")[2].rstrip()
        whole = "<" in schema and schema.count("<") == schema.count(">")
        begun = bool(rest) or "[" not in last.detail
        # Spark shortens what is long, the schema among it.
        return begun and not whole and not schema.endswith("...")
    if last.name == "Relation" and (found := _FORMAT.match(last.detail)):
        return any(f.startswith(found["format"]) and f != found["format"] for f in _FORMATS)
    return False


def cut_details(
    nodes: Sequence[PlanNode], numbers: Sequence[int], details: Mapping[int, Block]
) -> bool:
    """Say whether the last details below a numbered tree are less than Spark prints there."""
    number, block = list(details.items())[-1]
    names = {n: node.name for n, node in zip(numbers, nodes, strict=True)}
    if number in names and not block.name.startswith(names[number]):
        return True
    if block.fields and opened(list(block.fields.values())[-1]) > 0:
        return True
    return _LAST_FIELD.get(block.name, "") not in ("", *block.fields) or _cut_arguments(block)


def _cut_arguments(block: Block) -> bool:
    """Say whether arguments end before what stands in them whatever the query is."""
    said = block.fields.get("Arguments", "")
    if not said or "..." in said:
        return False
    if block.name in _WITH_STATE:
        return "state info" not in said
    return block.name in ("StreamingRelation", "Exchange") and not said.endswith("]")
