"""Read the leaves of a plan: streaming sources, static relations, empty batches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headgate.parse.spark.explain.arguments import first_bracket, listed, split
from headgate.parse.spark.explain.printed_plan import PlanNode
from headgate.parse.spark.operators.relation import Column, Relation, begins

_LOCATION = re.compile(r"Location: \w+ ?(?:\(\d+ paths\))?\[(?P<path>[^\],]*)")
_KAFKA_RELATION = re.compile(r"KafkaRelation\(strategy=\w+\[(?P<topics>[^\]]*)\][^)]*\)")
_TABLE_OF_TOPICS = "kafka:"
"""Prefix of the location that a capture writes for a batch read of Kafka."""
_V2_FORMATS = {
    "KafkaTable": "kafka",
    "KafkaScan": "kafka",
    # Before the shorter word that it begins with.
    "RatePerMicroBatch": "rate-micro-batch",
    "Rate": "rate",
}
EMPTY = "<empty>"
_ID = re.compile(r"\bid#(\d{1,18})")
_STREAMING_SCANS = (
    "StreamingDataSourceV2ScanRelation",
    "MicroBatchScan",
    "ContinuousScan",
    "RealTimeStreamScan",
)
_MADE_HERE = {
    "Range": "range",
    "OneRowRelation": "one row",
    "InMemoryRelation": "cache",
    "InMemoryTableScan": "cache",
}


def leaf(node: PlanNode, form: str) -> Relation:
    """Return the relation of an operator that has no inputs; a name of no known kind is static."""
    if node.name in ("StreamingRelation", "StreamingExecutionRelation"):
        return _streaming_relation(node)
    if node.name == "StreamingDataSourceV2Relation" and node.detail.startswith("["):
        return _scan_v2(node)
    if node.name in ("StreamingRelationV2", "StreamingDataSourceV2Relation"):
        return _streaming_v2(node)
    if node.name in _STREAMING_SCANS:
        return _scan_v2(node)
    if node.name in _MADE_HERE:
        return _made_here(node)
    if node.name == "LogicalRDD":
        return _rows(node)
    if node.name in ("LocalRelation", "LocalTableScan", "PlanLater"):
        return _local(node, form)
    return _relation(node)


def _columns(text: str) -> tuple[Column, ...]:
    return tuple(map(begins, listed(text))) if text else ()


def _streaming_relation(node: PlanNode) -> Relation:
    parts = split(node.argument())
    described = parts[0] if parts else ""
    kind, path, _ = first_bracket(described)
    extra = {"format": "file" if kind.startswith("File") else kind}
    if path:
        extra["path"] = path
    if name := _source_name(parts):
        extra["name"] = name
    columns = node.fields.get("Output") or (parts[1] if len(parts) > 1 else "")
    return _source(node, columns, extra)


def _source_name(parts: list[str]) -> str | None:
    found = next((p.removeprefix("name=") for p in parts if p.startswith("name=")), None)
    return None if found in (None, "<Unassigned>", "Unassigned") else found.strip('"')


def _source(node: PlanNode, columns: str, extra: dict[str, str]) -> Relation:
    return Relation(
        kind="source",
        outputs=_columns(columns),
        streaming=node.streaming if "empty_batch" in extra else True,
        name=extra.get("format", node.name),
        line=node.line,
        extra=extra,
    )


def _streaming_v2(node: PlanNode) -> Relation:
    """`provider@1, kafka, table@2, [startingOffsets=earliest, ...], [key#1, ...], ...`."""
    parts = split(node.argument())
    extra = {"format": parts[1]} if len(parts) > 1 else {}
    lists = [p for p in parts if p.startswith("[")]
    if name := _source_name(parts):
        extra["name"] = name
    if len(lists) > 1:
        extra |= _options(listed(lists[0]))
    return _source(node, node.fields.get("Output") or (*lists[1:2], *lists[:1], "")[0], extra)


def _options(printed: Sequence[str]) -> dict[str, str]:
    """Return `option.KEY` of `KEY=value`; a part without `=` continues the value before it."""
    out: dict[str, str] = {}
    last = ""
    for part in printed:
        key, sign, value = part.partition("=")
        if sign:
            last = f"option.{key}"
            out[last] = value
        elif last:
            out[last] += f",{part}"
    return out


def _scan_v2(node: PlanNode) -> Relation:
    _, columns, rest = first_bracket(node.detail)
    described = (rest or node.detail).strip()
    found = next((f for word, f in _V2_FORMATS.items() if word in described), None)
    extra = {"format": found} if found else {}
    return _source(node, node.fields.get("Output") or columns, extra)


def _made_here(node: PlanNode) -> Relation:
    """Return rows that the query itself makes: `Range (0, 10, step=1, splits=Some(1))`.

    One-line plans leave its only column out, which is always `id`.
    """
    said = node.argument() or node.detail
    bounds = said.partition(", splits")[0].partition(")")[0].strip("( ") if said[:1] == "(" else ""
    columns = node.fields.get("Output") or first_bracket(said)[1]
    extra = {"format": _MADE_HERE[node.name]} | ({"path": f"({bounds})"} if bounds else {})
    return Relation(
        kind="static",
        outputs=_columns(columns),
        streaming=False,
        name=node.name,
        line=node.line,
        extra=extra,
    )


def with_range_columns(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """Name the column of a `Range` that printed none, if exactly one `id` has no other origin.

    One-line plans leave it out.
    """
    bare = [n for n, r in enumerate(relations) if r.name == "Range" and not r.outputs]
    if len(bare) != 1:
        return tuple(relations)
    made = {c.id for r in relations for c in r.outputs if c.text is None or c.is_computed}
    texts = [t for r in relations for t in (r.condition, *r.keys, *r.right_keys, *_texts(r)) if t]
    found = {int(number) for t in texts for number in _ID.findall(t)} - made
    if len(found) != 1:
        return tuple(relations)
    named = replace(relations[bare[0]], outputs=(Column(found.pop(), "id"),))
    return tuple(named if n == bare[0] else r for n, r in enumerate(relations))


def _texts(relation: Relation) -> list[str]:
    return [c.text for c in relation.outputs if c.text]


def _rows(node: PlanNode) -> Relation:
    """`LogicalRDD [k#1, n#2], false`: rows of the session; `true` where they are a stream's."""
    parts = split(node.argument())
    streaming = True if parts[-1:] and parts[-1].lower() == "true" else node.streaming
    return Relation(
        kind="source",
        outputs=_columns(parts[0] if parts else ""),
        streaming=bool(streaming),
        name=node.name,
        line=node.line,
        extra={"format": "rows"},
    )


def _local(node: PlanNode, form: str) -> Relation:
    """Read a local relation.

    An empty one with columns stands for a source that had no data in the last batch; in an
    optimised or physical plan it may stand for everything that was beneath.
    """
    text = " ".join((node.detail, node.fields.get("Arguments", "")))
    columns = node.fields.get("Output") or next((p for p in split(text) if p[:1] == "["), "")
    outputs = _columns(columns)
    extra = {"format": "local"}
    if node.name == "PlanLater" or (EMPTY in text and not outputs):
        extra["no_columns"] = "true"
    elif EMPTY in text and (form in ("analyzed", "parsed") or (form == "json" and node.streaming)):
        return _source(node, columns, {"empty_batch": "true"})
    elif EMPTY in text or form == "executed":
        # The JSON of a physical plan does not say whether there are rows.
        extra["empty"] = "true"
    return Relation(
        kind="static", outputs=outputs, streaming=False, name=node.name, line=node.line, extra=extra
    )


def _static_kafka(node: PlanNode, topics: str) -> Relation:
    """A batch read of Kafka: a micro-batch of a stream is a scan of the newer interface."""
    columns = first_bracket(_KAFKA_RELATION.sub("", node.detail))[1]
    extra = {"format": "kafka", "topics": topics}
    return Relation(
        kind="static",
        outputs=_columns(node.fields.get("Output") or columns),
        streaming=False,
        name="kafka",
        line=node.line,
        extra=extra,
    )


def _relation(node: PlanNode) -> Relation:
    """A file or table scan: only its surroundings show whether it is streaming or static."""
    if match := _KAFKA_RELATION.search(node.detail):
        return _static_kafka(node, match["topics"])
    before, columns, rest = first_bracket(node.detail)
    words = before.split()
    extra: dict[str, str] = {}
    found = rest.split() if node.name == "Relation" else words
    if found and re.match(r"^[A-Za-z]\w*$", found[-1]):
        extra["format"] = found[-1]
    text = node.detail if "Location" in node.detail else _location(node)
    if match := _LOCATION.search(text):
        extra["path"] = match["path"].removesuffix("...")
    if extra.get("path", "").startswith(_TABLE_OF_TOPICS):
        return _static_kafka(node, extra["path"].removeprefix(_TABLE_OF_TOPICS))
    if node.name == "Relation" and words:
        extra["table"] = words[-1]
    if schema := _read_schema(node):
        extra["read_schema"] = schema
    return Relation(
        kind="source",
        outputs=_columns(node.fields.get("Output") or columns),
        streaming=node.streaming,
        name=extra.get("format", node.name),
        line=node.line,
        extra=extra,
    )


def _location(node: PlanNode) -> str:
    return f"Location: {node.fields['Location']}" if "Location" in node.fields else ""


def _read_schema(node: PlanNode) -> str | None:
    found = node.fields.get("ReadSchema") or node.detail.partition("ReadSchema: ")[2]
    return found if found.startswith("struct<") and found.endswith(">") else None
