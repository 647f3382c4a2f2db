"""A topology for people at a terminal: a tree from the sink up, and tables of what it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headgate.model.state_schema import Schema
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Version
from headgate.parse.evidence.limits import limits_of
from headgate.text.tables import Branch, Styles, table_lines, terminal_safe, tree_lines

_SIGNS = {
    NodeKind.SOURCE: "◀",
    NodeKind.TRANSFORM: "•",
    NodeKind.REPARTITION: "⇄",
    NodeKind.STATE_STORE: "▤",
    NodeKind.SINK: "▶",
}


def topology_text(version: Version, *, styled: bool = False) -> str:
    """Return the whole view, with a terminal's emphasis where `styled`; warnings are no part."""
    return "\n".join(_lines(version, Styles(styled))) + "\n"


def _lines(version: Version, styles: Styles) -> Iterator[str]:
    yield styles.bold(_heading(version))
    for tree in _trees(version.topology, styles):
        yield from tree_lines(tree, styles)
    if version.sources:
        head = ("source", "format", "reads", "start offsets", "end offsets")
        yield from table_lines("Sources", head, list(_sources(version)), styles)
    if version.stateful:
        head = ("id", "operator", "store", "key", "value")
        yield from table_lines("State", head, list(_stores(version)), styles)
    if open_ := limits_of(version):
        yield styles.italic("Missing in this evidence")
        yield from (styles.dim(f"· {terminal_safe(sentence)}") for sentence in open_)


def _heading(version: Version) -> str:
    words = [version.name or "(unnamed)", version.engine.value]
    if version.output_mode:
        words.append(f"{version.output_mode.lower()} mode")
    if version.progress and version.progress.last_commit_batch is not None:
        words.append(f"batch {version.progress.last_commit_batch} committed")
    return terminal_safe(" · ".join(words))


def _trees(topology: Topology, styles: Styles) -> list[Branch]:
    """Return a tree for each node that feeds nothing; what a node needs hangs below it.

    The graph is walked without recursion; a node that feeds several is written out once.
    """
    inputs: dict[str, list[str]] = {}
    stores = {n.id for n in topology.nodes if n.kind is NodeKind.STATE_STORE}
    feeding = set()
    for edge in topology.edges:
        upward = (edge.source, edge.target) if edge.target in stores else (edge.target, edge.source)
        inputs.setdefault(upward[0], []).append(upward[1])
        feeding.add(upward[1])
    nodes = {n.id: n for n in topology.nodes}
    out = []
    seen: set[str] = set()
    for root in (n for n in topology.nodes if n.id not in feeding):
        tree = Branch(_line(root, styles))
        out.append(tree)
        stack = [(tree, below) for below in inputs.get(root.id, [])[::-1]]
        while stack:
            branch, key = stack.pop()
            again = key in seen
            label = f"↑ {terminal_safe(nodes[key].label)}"
            child = branch.add(label if again else _line(nodes[key], styles))
            seen.add(key)
            if not again:
                stack.extend((child, below) for below in inputs.get(key, [])[::-1])
    return out


def _kind(node: Node) -> str:
    """Return the operator's word and a blank, nothing where the label begins with it anyway."""
    word = node.operator.replace("_", " ")
    return "" if node.label.startswith(word) else f"{node.operator} "


def _line(node: Node, styles: Styles) -> str:
    text = (
        styles.dim(f"{_SIGNS[node.kind]} ") + styles.bold(_kind(node)) + terminal_safe(node.label)
    )
    if node.kind is NodeKind.REPARTITION and node.details.get("partitions") is not None:
        text += f" ({node.details['partitions']})"
    return text


def _sources(version: Version) -> Iterator[tuple[str, ...]]:
    for source in version.sources or ():
        reads = ", ".join(source.topics) or source.pattern or source.path or ""
        start, now = (_offsets(o) for o in (source.start_offsets, source.offsets))
        name = source.name or f"s{source.position}"
        yield name, source.format or "?", reads, start, now


def _offsets(offsets: object) -> str:
    """Write Kafka's as `orders 0:17 1:9`, PARTITION:OFFSET; another source's as JSON."""
    if offsets is None:
        return ""
    if isinstance(offsets, dict) and all(isinstance(found, dict) for found in offsets.values()):
        text = ", ".join(
            " ".join((topic, *(f"{number}:{at}" for number, at in found.items())))
            for topic, found in offsets.items()
        )
    else:
        text = json.dumps(offsets, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _stores(version: Version) -> Iterator[tuple[str, ...]]:
    for operator in version.stateful or ():
        for store in operator.stores:
            yield (
                str(operator.operator_id),
                operator.name or operator.kind.value,
                store.store,
                _schema(store.key_schema),
                _schema(store.value_schema),
            )


def _schema(schema: Schema | None) -> str:
    return "?" if schema is None else schema.describe()


def topology_json(version: Version) -> dict[str, Any]:
    """Return the object that `headgate topology --format json` prints."""
    topology = version.topology
    return {
        "schema": 1,
        "name": version.name,
        "engine": version.engine.value,
        "nodes": [_node(n) for n in topology.nodes],
        "edges": [{"from": e.source, "to": e.target} for e in topology.edges],
        "subtopologies": [
            {"id": number, "nodes": list(nodes)}
            for number, nodes in topology.subtopologies().items()
        ],
        "topics": topics(version),
        "pinned": dict(version.pinned),
        "evidence": [{"kind": e.kind, "path": e.path} for e in version.evidence],
        "warnings": list(version.warnings),
    }


def _node(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind.value,
        "operator": node.operator,
        "label": node.label,
        "subtopology": node.subtopology,
        "details": dict(node.details),
    }


def topics(version: Version) -> dict[str, list[str]]:
    """Return the topics that the pipeline reads, writes and keeps for itself, each sorted."""
    read = {t for s in version.sources or () for t in s.topics}
    for node in version.topology.nodes:
        read |= _said(node, "topics") if node.kind.value == "source" else set()
    sink = version.sink
    written = {sink.target} if sink and sink.format == "kafka" and sink.target else set()
    internal: set[str] = set()
    if version.engine is Engine.KAFKA_STREAMS:
        for node in version.topology.nodes:
            written |= _said(node, "target") if node.kind.value == "sink" else set()
            internal |= _said(node, "internal_topic")
    return {
        "in": sorted(read - internal),
        "out": sorted(written - internal),
        "internal": sorted(internal),
    }


def _said(node: Node, key: str) -> set[str]:
    value = node.details.get(key)
    return {v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)}
