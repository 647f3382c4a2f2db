"""A topology as JSON, as the command line's contract has it."""

from __future__ import annotations

from typing import Any

from headgate.model.topology import Node
from headgate.model.version import Engine, Version


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
