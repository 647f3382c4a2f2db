"""Say whether a printed plan breaks off in its last operator, if its brackets don't show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.model.sinks import FILE_FORMATS
from headgate.parse.spark.explain.arguments import first_bracket, opened
from headgate.parse.spark.explain.printed_plan import PlanNode

_BLOCK = re.compile(r"^\((?P<number>\d{1,9})\) (?P<name>\S.*)$")
_FIELD = re.compile(r"^([A-Z][A-Za-z ]*)(?: \[\d{1,9}\])?\s*: ?(.*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One `(12) HashAggregate` with its fields."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)


def read_details(lines: Iterable[str]) -> Mapping[int, Block]:
    """Return the blocks by their operators' numbers; lines of no block are passed over."""
    out: dict[int, Block] = {}
    fields: dict[str, str] | None = None
    key = ""
    for line in lines:
        if line[:1] == "(" and (block := _BLOCK.match(line)):
            fields, key = {}, ""
            out[int(block["number"])] = Block(block["name"].split(" [")[0].strip(), fields)
        elif not line.strip():
            fields = None
        elif fields is not None and (match := _FIELD.match(line)):
            key = match[1].rstrip()
            fields[key] = match[2].strip()
        elif key and fields is not None and opened(fields[key]) > 0:
            fields[key] = f"{fields[key]} {line.strip()}"
    return out


_HAS_INPUT = re.compile(
    r"^(?:Project|Filter|TypedFilter|Sort|Expand|Generate|\w*Window|SubqueryAlias"
    r"|EventTimeWatermark|UpdateEventTime\w*Column|RepartitionByExpression|Repartition|Rebalance\w*"
    r"|Coalesce|Deduplicate\w*|Distinct|\w*Limit|\w*Aggregate|\w*Exchange|\w*Join|\w*EvalPython\w*"
    r"|Map\w+|AppendColumns|SerializeFromObject|DeserializeToObject|\w*StateStore\w+"
    r"|Streaming\w+Exec|StreamingDeduplicate\w*|\w*GroupsWithState\w*|FlatMap\w+|MergingSessions"
    r"|TransformWithState\w*|Write\w+|Union|AdaptiveSparkPlan|AQEShuffleRead|\w+QueryStage"
    r"|ColumnarToRow|CollectMetrics|CTERelationDef|InMemoryTableScan|InMemoryRelation|\w+AndProject"
    r"|WithCTE|SparkScriptTransformation)$"
)
"""Operators with an input: if the last row of a plan has one of these, the plan is truncated."""

_FORMATS = (*(FILE_FORMATS - {"file"}), "binaryFile", "kafka", "rate")
_FORMAT = re.compile(r"^\[.*\] (?P<format>\w+)$", re.DOTALL)

# The last line that Spark prints in an operator's details, where it is not `Arguments`.
_LAST_FIELD = {
    "BroadcastHashJoin": "Join condition",
    "BroadcastNestedLoopJoin": "Join condition",
    "ColumnarToRow": "Input",
    "RowToColumnar": "Input",
    "Filter": "Condition",
    "HashAggregate": "Results",
    "MergingSessions": "Results",
    "ObjectHashAggregate": "Results",
    "Project": "Input",
    "ShuffledHashJoin": "Join condition",
    "SortAggregate": "Results",
    "SortMergeJoin": "Join condition",
}
_WITH_ARGUMENTS = re.compile(
    r"^(?:\w*Exchange|Sort|EventTimeWatermark|Expand|Generate|Window|\w*Limit|Coalesce|\w*EvalPython"
    r"|FlatMapGroups\w+|(?:SessionWindow)?StateStore\w+|Streaming\w+|TransformWithState\w*"
    r"|Scan ExistingRDD)$"
)
_MODE = r"(?:Append|Update|Complete)"
# No watermark is Long.MinValue; Spark before 3.4 prints one, later releases print two.
_TIME = r"(?:-9223372036854775808|\d+)"
_TIMES = rf"(?:{_TIME}, ){{1,2}}"
_VERSION = r"[1-4]"
_ENDS = {
    "EventTimeWatermark": r"\d \w*s",
    "Exchange": r"\]",
    "Expand": r"\]",
    "Filter": r"\)|#\d+L?|-T\d+ms|true|false|null",
    "FlatMapGroupsInPandasWithState": r", (?:true|false)",
    "FlatMapGroupsWithState": r", (?:true|false)",
    "Generate": r"\]",
    "MapInArrow": r", (?:true|false)",
    "MapInPandas": r", (?:true|false)",
    "SessionWindowStateStoreRestore": rf"[\])e], {_TIMES}{_VERSION}",
    "SessionWindowStateStoreSave": rf"{_MODE}, {_TIMES}{_VERSION}",
    "Sort": r"\], (?:true|false), \d+",
    "StateStoreRestore": rf"[\])e], {_VERSION}",
    "StateStoreSave": rf"(?:{_MODE}|None), {_TIMES}{_VERSION}",
    "StreamingDeduplicate": rf"{_TIME}, {_TIME}|\], {_TIME}",
    "StreamingDeduplicateWithinWatermark": rf"{_TIME}, {_TIME}",
    "StreamingGlobalLimit": rf", {_MODE}",
    "StreamingRelation": r"\]|, \w[\w.`]*",
    "StreamingSymmetricHashJoin": rf"\], {_VERSION}(?:, {_MODE})?",
    "TransformWithStateInPandas": r"(?:true|false), (?:true|false), \[.*\]",
    "TransformWithStateInPySpark": r"(?:true|false), (?:true|false), \[.*\]",
    "UpdateEventTimeColumn": rf"s, {_TIME}",
}
"""Patterns of the last line of an operator's details, by operator."""
_LISTS = frozenset(("Output", "Input", "Keys", "Functions", "Results"))
_BARE = frozenset(("Union",))
_SCANNED = tuple(
    f"class org.apache.spark.sql.{name}"
    for name in (
        "kafka010.KafkaSourceProvider$KafkaScan",
        "execution.streaming.sources.RateStreamTable$$anon$1",
        "execution.streaming.sources.RatePerMicroBatchTable$$anon$1",
        "execution.streaming.sources.TextSocketTable$$anon$1",
    )
)


def cut_row(last: PlanNode) -> bool:
    """Say whether the last row of an unnumbered tree is less than Spark prints there."""
    # `k: string, n: bigint` is the result's line, above the tree of an analysed plan.
    if _HAS_INPUT.match(last.name) or last.detail.startswith(": "):
        return True
    is_cut = _CUT_LEAVES.get(last.name)
    return is_cut is not None and is_cut(last.detail)


def _cut_file_scan(detail: str) -> bool:
    # After the columns stand `Batched:`, `Location:` and others, `ReadSchema:` last.
    rest = first_bracket(detail)[2].strip()
    schema = rest.partition("ReadSchema: ")[2].rstrip()
    whole = "<" in schema and schema.count("<") == schema.count(">")
    # Spark shortens what is long, the schema among it.
    return not whole and not schema.endswith("...")


def _cut_relation(detail: str) -> bool:
    found = _FORMAT.match(detail)
    return found is not None and _begins(found["format"], _FORMATS)


def _cut_scan(detail: str) -> bool:
    table = first_bracket(detail)[2].strip()
    return not table or _begins(table, _SCANNED)


def _begins(text: str, whole: Sequence[str]) -> bool:
    """Whether the text is how one of these begins, and not all of it."""
    return text not in whole and any(w.startswith(text) for w in whole)


_CUT_LEAVES: Mapping[str, Callable[[str], bool]] = {
    "FileScan": _cut_file_scan,
    "Relation": _cut_relation,
    "Scan": lambda detail: "[" not in detail,
    "StreamingRelation": lambda detail: ", [" not in detail,
    "LocalTableScan": lambda detail: not detail.endswith("]"),
    **dict.fromkeys(("MicroBatchScan", "ContinuousScan", "RealTimeStreamScan"), _cut_scan),
}
"""Checks whether the text of a leaf is truncated, by operator."""


def cut_details(
    nodes: Sequence[PlanNode], numbers: Sequence[int], details: Mapping[int, Block]
) -> bool:
    """Say whether the last details below a numbered tree are less than Spark prints there."""
    number, block = list(details.items())[-1]
    names = {n: node.name for n, node in zip(numbers, nodes, strict=True)}
    if number in names and not block.name.startswith(names[number]):
        return True
    if not block.fields:
        return block.name not in _BARE
    key, value = list(block.fields.items())[-1]
    return opened(value) > 0 or key not in _last_fields(block) or _cut_value(block.name, key, value)


def _last_fields(block: Block) -> tuple[str, ...]:
    """Return the fields that may be last in an operator's details: any if it isn't known."""
    if known := _LAST_FIELD.get(block.name):
        return (known,)
    if _WITH_ARGUMENTS.match(block.name):
        return ("Arguments",)
    if block.name.startswith("Scan "):
        return ("ReadSchema", "Arguments")
    # What takes input and has no arguments is in the table above.
    return tuple(f for f in block.fields if f not in ("Input", "Left keys", "Left output"))


def _cut_value(name: str, key: str, value: str) -> bool:
    """Say whether the last field ends before the text that it has in every query."""
    if "..." in value:
        return False
    if key in _LISTS and not value.endswith("]"):
        return True
    if key == "ReadSchema":
        return value.count("<") != value.count(">") or not value.endswith(">")
    end = _ENDS.get(name)
    return end is not None and re.search(rf"(?:{end})$", value) is None
