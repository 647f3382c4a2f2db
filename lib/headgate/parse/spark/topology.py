"""Draw the canonical shape as nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Sink, Source, StatefulOperator, StateStore
from headgate.parse.spark.anchors import SINK, Anchor, Inlet, Shape, node_id
from headgate.parse.spark.expression import parse
from headgate.parse.spark.readable import readable
from headgate.parse.spark.relation import Exchange
from headgate.parse.spark.stateful import JOIN_STORES

_JOINS = {
    "Inner": "join",
    "LeftOuter": "left join",
    "RightOuter": "right join",
    "FullOuter": "full join",
    "LeftSemi": "semi join",
    "LeftAnti": "anti join",
}


@dataclass(slots=True)
class _Drawing:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Known:
    """What other evidence knows of the nodes: sources, operators and the sink by node id."""

    sources: Mapping[str, Source]
    operators: Mapping[str, StatefulOperator]
    sink: Sink | None = None


def draw(shape: Shape, known: Known) -> Topology:
    """Return the topology: sources first, then downstream; split at repartitions."""
    drawing = _Drawing()
    for anchor in _upstream_first(shape):
        _anchor(anchor, shape, known, drawing)
    return numbered(tuple(drawing.nodes.values()), tuple(drawing.edges))


def _upstream_first(shape: Shape) -> list[Anchor]:
    """Return the anchors with every input before what it feeds, left inputs first."""
    order: list[Anchor] = []
    stack = [SINK]
    while stack:
        anchor = shape.anchors[stack.pop()]
        order.append(anchor)
        stack.extend(anchor.inputs)
    return order[::-1]


def store_nodes(operator: str, stores: Sequence[StateStore]) -> list[Node]:
    """Return the nodes of an operator's stores; ids come from the operator's and the store's name.

    A plan knows the store of a transformWithState as `default` and none of its variables, which
    checkpoints name: the first of them takes the id of that store, so that both agree.
    """
    names = [s.store for s in stores]
    variables = [n for n in names if not n.startswith("$")]
    first = None if {"default", *JOIN_STORES} & set(names) else next(iter(variables), None)
    return [_store_node(operator, s, "default" if s.store == first else s.store) for s in stores]


def _store_node(operator: str, store: StateStore, place: str) -> Node:
    details = {
        "store": store.store,
        "operator_id": store.operator_id,
        "key_schema": _schema(store.key_schema),
        "value_schema": _schema(store.value_schema),
        "provider": store.provider,
        "partitions": store.partitions,
        "format": store.format,
        "encoding": store.encoding,
    }
    return Node(
        id=node_id("store", operator, place),
        kind=NodeKind.STATE_STORE,
        operator="state_store",
        label=store.store,
        details=_said(details),
    )


def _schema(schema: Any) -> list[dict[str, Any]] | None:
    if schema is None:
        return None
    return [{"name": f.name, "type": f.type, "nullable": f.nullable} for f in schema.fields]


def _said(details: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in details.items() if v not in (None, "", [], {}, ())}


def sink_node(sink: Sink | None) -> Node:
    """Return the node of the sink, the root of every topology."""
    sink = sink or Sink()
    details = {
        "format": sink.format,
        "target": sink.target,
        "options": dict(sink.options),
        "output_mode": sink.output_mode,
        "partition_by": list(sink.partition_by or ()),
    }
    label = " ".join(t for t in (sink.format or "sink", sink.target) if t)
    return Node(SINK, NodeKind.SINK, sink.format or "sink", label, details=_said(details))


def _anchor(anchor: Anchor, shape: Shape, known: Known, drawing: _Drawing) -> None:
    """Draw one operator, its stores and the ways into it; what feeds it is drawn already."""
    node = sink_node(known.sink) if anchor.id == SINK else _operator(anchor, known)
    by_slot = {shape.anchors[i].slot: i for i in anchor.inputs}
    for slot, inlet in enumerate(anchor.inlets):
        _way(anchor.id, slot, inlet, by_slot.get(slot), drawing)
    drawing.nodes[node.id] = node
    operator = known.operators.get(anchor.id)
    for made in store_nodes(anchor.id, operator.stores if operator else ()):
        drawing.nodes[made.id] = made
        drawing.edges.append(Edge(anchor.id, made.id))


def _way(target: str, slot: int, inlet: Inlet, below: str | None, drawing: _Drawing) -> None:
    """Draw what lies between an operator and its input, upstream first."""
    nodes = [
        *(_exchange(target, f"{slot}.wanted{n}", e) for n, e in enumerate(inlet.wanted[::-1])),
        *_filter(target, slot, inlet),
        *_project(target, slot, inlet),
        *_sort(target, slot, inlet),
        *([_exchange(target, f"{slot}.required", inlet.required)] if inlet.required else []),
    ]
    ids = [n.id for n in nodes]
    for node in nodes:
        drawing.nodes[node.id] = node
    chain = [*([below] if below else []), *ids, target]
    drawing.edges.extend(Edge(a, b) for a, b in pairwise(chain))


def _exchange(target: str, slot: str, exchange: Exchange) -> Node:
    keys = [_bare(k) for k in exchange.keys]
    label = f"by {', '.join(keys)}" if keys else "to one" if exchange.partitions == 1 else "evenly"
    details = {"keys": keys, "partitions": exchange.partitions, "required": exchange.required}
    return Node(
        node_id("exchange", target, slot), NodeKind.REPARTITION, "exchange", label, details=details
    )


def _bare(text: str) -> str:
    return parse(text).text


def _filter(target: str, slot: int, inlet: Inlet) -> list[Node]:
    if not inlet.filters:
        return []
    conditions = list(inlet.filters)
    label = _short(" and ".join(_told(conditions)))
    key = node_id("filter", target, slot)
    details = {"conditions": conditions}
    return [Node(key, NodeKind.TRANSFORM, "filter", label, details=details)]


def _told(conditions: Sequence[str]) -> list[str]:
    """Return what a person wrote: the optimiser's `isnotnull` only where there is nothing else."""
    terms = [parse(c) for c in conditions]
    written = [t for t in terms if not (t.kind == "call" and t.name == "isnotnull")]
    return list(dict.fromkeys(readable(t) for t in written or terms))


def _project(target: str, slot: int, inlet: Inlet) -> list[Node]:
    if not inlet.computed:
        return []
    label = _short(", ".join(inlet.computed))
    key = node_id("project", target, slot)
    details = {"columns": dict(inlet.computed)}
    return [Node(key, NodeKind.TRANSFORM, "project", label, details=details)]


def _sort(target: str, slot: int, inlet: Inlet) -> list[Node]:
    if not inlet.sorts:
        return []
    return [Node(node_id("sort", target, slot), NodeKind.TRANSFORM, "sort", "sort")]


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _operator(anchor: Anchor, known: Known) -> Node:
    if anchor.word in ("source", "static"):
        return _source(anchor, known.sources.get(anchor.id))
    operator = known.operators.get(anchor.id)
    details = _details(anchor, operator)
    if anchor.word == "watermark":
        details["watermark_delay"] = (anchor.relation.extra if anchor.relation else {}).get("delay")
        details["watermark_column"] = anchor.facts.column.text if anchor.facts.column else None
    label = _label(anchor)
    return Node(anchor.id, NodeKind.TRANSFORM, anchor.word, label, details=_said(details))


def _details(anchor: Anchor, operator: StatefulOperator | None) -> dict[str, Any]:
    facts, relation = anchor.facts, anchor.relation
    out: dict[str, Any] = {
        "keys": [k.text for k in facts.keys],
        "right_keys": [k.text for k in facts.right_keys],
        "functions": [f.text for f in facts.functions],
        "conditions": [c.text for c in facts.conditions],
        "join_type": relation.join_type if relation else None,
        "limit": relation.extra.get("limit") if relation else None,
        "name": relation.name if relation and anchor.word == "unknown" else None,
    }
    if operator is not None:
        out["operator_id"] = operator.operator_id
        out["output_mode"] = operator.output_mode
        out["watermark_column"] = operator.watermark_column
        out["watermark_delay"] = operator.watermark_delay
        out["timeout"] = operator.extra.get("timeout")
        out["time_mode"] = operator.extra.get("time_mode")
        if window := operator.window:
            out["window"] = window.size_us if window.session_gap is None else window.session_gap
            out["slide"] = window.slide_us
            out["window_column"] = window.column
    return out


def _label(anchor: Anchor) -> str:
    facts, relation = anchor.facts, anchor.relation
    keys = ", ".join(map(readable, facts.keys))
    match anchor.word:
        case "aggregate" | "session_aggregate":
            made = ", ".join(map(readable, facts.functions)) or "distinct"
            return _short(f"{made} by {keys}" if keys else made)
        case "stream_join" | "static_join":
            kind = (relation.join_type if relation else None) or ""
            return _short(f"{_JOINS.get(kind, kind)} on {keys}".strip())
        case "deduplicate" | "deduplicate_within_watermark":
            return _short(f"unique by {keys}")
        case "watermark":
            delay = relation.extra.get("delay", "") if relation else ""
            column = readable(facts.column) if facts.column else ""
            return _short(f"{column} {delay}".strip())
        case "limit":
            return f"limit {relation.extra.get('limit', '') if relation else ''}".strip()
        case "unknown":
            return relation.name if relation else "unknown"
    return anchor.word.replace("_", " ")


def _source(anchor: Anchor, source: Source | None) -> Node:
    relation = anchor.relation
    if source is None:
        return _static_node(anchor.id, relation.extra if relation else {})
    return source_node(anchor.id, source)


def _static_node(node: str, extra: Mapping[str, str]) -> Node:
    """Return the node of a relation that is read anew in each batch, or once."""
    topics = [t.strip() for t in extra.get("topics", "").split(",") if t.strip()]
    kept = {"format": extra.get("format"), "path": extra.get("path"), "topics": topics}
    what = ", ".join(topics) or extra.get("path")
    label = " ".join(t for t in (extra.get("format", "static"), what) if t)
    kind = extra.get("format") or "static"
    return Node(node, NodeKind.SOURCE, kind, label, details={**_said(kept), "static": True})


def source_node(node: str, source: Source) -> Node:
    """Return the node of a streaming source."""
    what = ", ".join(source.topics) or source.pattern or source.path or ""
    label = " ".join(t for t in (source.name or source.format or "source", what) if t)
    word = source.format or "source"
    return Node(node, NodeKind.SOURCE, word, label, details=source_details(source))


def source_details(source: Source) -> dict[str, Any]:
    """Return the contract's keys of a source, and its place in the offset log."""
    details = {
        "format": source.format,
        "name": source.name,
        "topics": list(source.topics),
        "pattern": source.pattern,
        "path": source.path,
        "options": dict(source.options),
        "start_offsets": source.start_offsets,
        "offsets": source.offsets,
        "columns": list(source.columns or ()),
    }
    return {"position": source.position, **_said(details)}


def numbered(nodes: Sequence[Node], edges: Sequence[Edge]) -> Topology:
    """Number the parts that repartitions separate; an exchange belongs to what it feeds."""
    group = {n.id: n.id for n in nodes}
    cut = {n.id for n in nodes if n.kind is NodeKind.REPARTITION}

    def find(key: str) -> str:
        while group[key] != key:
            group[key] = group[group[key]]
            key = group[key]
        return key

    for edge in edges:
        if edge.target not in cut:
            group[find(edge.source)] = find(edge.target)
    numbers: dict[str, int] = {}
    numbered = [replace(n, subtopology=numbers.setdefault(find(n.id), len(numbers))) for n in nodes]
    return Topology(tuple(numbered), tuple(edges))
