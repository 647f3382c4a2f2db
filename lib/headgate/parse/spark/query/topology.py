"""Draw the canonical shape as nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from headgate.model.sinks import sink_format
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Function, Sink, Source, StatefulOperator, StateStore
from headgate.parse.spark.operators.canonical import SINK, Anchor, Inlet, Shape, node_id
from headgate.parse.spark.query.inlet_nodes import inlet_nodes
from headgate.parse.spark.query.operator_nodes import operator_node, said
from headgate.parse.spark.state.operators import JOIN_STORES


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
    functions: Sequence[Function] = ()


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


def _store_node(operator: str, store: StateStore, position: str) -> Node:
    details = {
        "store": store.store,
        "operator_id": store.operator_id,
        "key_schema": _schema(store.key_schema),
        "value_schema": _schema(store.value_schema),
        "provider": store.provider,
        "partitions": store.partitions,
        "format": store.format,
        "encoding": store.encoding,
        "changelog": store.changelog,
        "checkpoint_format": store.checkpoint_format,
    }
    return Node(
        id=node_id("store", operator, position),
        kind=NodeKind.STATE_STORE,
        operator="state_store",
        label=store.store,
        details=said(details),
    )


def _schema(schema: Any) -> list[dict[str, Any]] | None:
    if schema is None:
        return None
    return [{"name": f.name, "type": f.type, "nullable": f.nullable} for f in schema.fields]


def sink_node(sink: Sink | None, functions: Sequence[Function] = ()) -> Node:
    """Return the node of the sink, the root of every topology.

    Of `functions` the one that a foreach or a foreachBatch calls is named.
    """
    sink = sink or Sink()
    details = {
        "format": sink.format,
        "target": sink.target,
        "options": dict(sink.options),
        "output_mode": sink.output_mode,
        "partition_by": list(sink.partition_by or ()),
        "function": next((f.name for f in functions if sink_format(f.kind).calls_function), None),
    }
    label = " ".join(t for t in (sink.format or "sink", sink.target) if t)
    return Node(SINK, NodeKind.SINK, sink.format or "sink", label, details=said(details))


def _anchor(anchor: Anchor, shape: Shape, known: Known, drawing: _Drawing) -> None:
    """Draw one operator, its stores and the ways into it; what feeds it is drawn already."""
    at_end = anchor.id == SINK
    node = sink_node(known.sink, known.functions) if at_end else _operator(anchor, known)
    by_slot = {shape.anchors[i].slot: i for i in anchor.inputs}
    for slot, inlet in enumerate(anchor.inlets):
        _way(anchor.id, slot, inlet, by_slot.get(slot), drawing)
    drawing.nodes[node.id] = node
    operator = known.operators.get(anchor.id)
    for made in store_nodes(anchor.id, operator.stores if operator else ()):
        drawing.nodes[made.id] = made
        drawing.edges.append(Edge(anchor.id, made.id))


def _way(target: str, slot: int, inlet: Inlet, below: str | None, drawing: _Drawing) -> None:
    """Draw the nodes between an operator and its input, upstream first."""
    nodes = inlet_nodes(target, slot, inlet)
    for node in nodes:
        drawing.nodes[node.id] = node
    chain = [*([below] if below else []), *(n.id for n in nodes), target]
    drawing.edges.extend(Edge(a, b) for a, b in pairwise(chain))


def _operator(anchor: Anchor, known: Known) -> Node:
    if anchor.word in ("source", "static"):
        return _source(anchor, known.sources.get(anchor.id) or _mentioned_again(anchor, known))
    return operator_node(anchor, known.operators.get(anchor.id))


def _mentioned_again(anchor: Anchor, known: Known) -> Source | None:
    """Return the source of a stream that the query uses twice: its facts are of the first use."""
    if anchor.word != "source" or not (anchor.relation and anchor.relation.streaming):
        return None
    position = anchor.facts.position
    return next((s for s in known.sources.values() if s.position == position), None)


def _source(anchor: Anchor, source: Source | None) -> Node:
    relation = anchor.relation
    if source is None:
        return _static_node(anchor, relation.extra if relation else {})
    return source_node(anchor.id, source)


def _static_node(anchor: Anchor, extra: Mapping[str, str]) -> Node:
    """Return the node of a static relation: it is read in each batch, or once.

    Its position is the number in the names of its columns, as in `static0.k`.
    """
    topics = [t.strip() for t in extra.get("topics", "").split(",") if t.strip()]
    kept = {"format": extra.get("format"), "path": extra.get("path"), "topics": topics}
    what = ", ".join(topics) or extra.get("path")
    label = " ".join(t for t in (extra.get("format", "static"), what) if t)
    kind = extra.get("format") or "static"
    details = {"position": anchor.facts.position, **said(kept), "static": True}
    return Node(anchor.id, NodeKind.SOURCE, kind, label, details=details)


def source_node(node: str, source: Source) -> Node:
    """Return the node of a streaming source."""
    what = ", ".join(source.topics) or source.pattern or source.path or ""
    label = " ".join(t for t in (source.name or source.format or "source", what) if t)
    word = source.format or "source"
    return Node(node, NodeKind.SOURCE, word, label, details=source_details(source))


def source_details(source: Source) -> dict[str, Any]:
    """Return the contract's keys of a source, and its position in the offset log."""
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
    return {"position": source.position, **said(details)}


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
    numbered = [
        Node(n.id, n.kind, n.operator, n.label, number, n.details)
        for n in nodes
        for number in (numbers.setdefault(find(n.id), len(numbers)),)
    ]
    return Topology(tuple(numbered), tuple(edges))
