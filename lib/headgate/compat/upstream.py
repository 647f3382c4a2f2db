"""What feeds an operator: the part of the graph above it, in words that outlast a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx

from headgate.compat.rule import Comparison
from headgate.model.topology import Node, NodeKind, Topology

STATEFUL = frozenset(
    {
        "aggregate",
        "session_aggregate",
        "deduplicate",
        "deduplicate_within_watermark",
        "stream_join",
        "limit",
        "map_groups",
        "transform_with_state",
    }
)
# Operators whose changes have rules of their own.
_JUDGED_ELSEWHERE = STATEFUL | {"watermark", "source", "sink", "exchange", "state_store"}
# What a node says of this run, this checkpoint or this form of evidence.
_VOLATILE = frozenset(
    {
        "encoding",
        "format",
        "line",
        "offsets",
        "operator_id",
        "output_mode",
        "partitions",
        "plan_id",
        "position",
        "provider",
        "schema",
        "start_offsets",
    }
)
_UDF = re.compile(r"\b(?P<name>\w+)\([^()]*\)#\d+|pythonUDF|\bPythonUDF\b")


@dataclass(frozen=True, slots=True)
class TransformChange:
    """A stateless transform that was added, removed or changed."""

    before: str | None
    after: str | None
    was: str | None
    now: str | None
    feeds_state: bool
    sentence: str


def visible(node: Node) -> dict[str, Any]:
    """Return the details that belong to the version, not to its run or its evidence."""
    return {k: v for k, v in node.details.items() if k not in _VOLATILE and v not in (None, [], {})}


def meaning(node: Node) -> tuple[Any, ...]:
    """Return what must be equal for two nodes to do the same."""
    details = tuple((k, repr(v)) for k, v in sorted(visible(node).items()))
    return (node.kind.value, node.operator, node.label, details)


def appearance(node: Node) -> tuple[Any, ...]:
    """Return what must be equal for two nodes to look the same.

    State schemas compare by their types: names of stored columns decide nothing.
    """
    details = {k: v for k, v in visible(node).items() if k not in ("key_schema", "value_schema")}
    schemas = [_types(node.details.get(k)) for k in ("key_schema", "value_schema")]
    return (node.operator, node.label, repr(sorted(details.items())), repr(schemas))


def _types(schema: Any) -> list[Any]:
    return [(f.get("type"), f.get("nullable")) for f in schema or ()]


def transforms(topology: Topology) -> Counter[tuple[Any, ...]]:
    """Return what all stateless transforms of a graph do, counted."""
    return Counter(meaning(n) for n in topology.nodes if is_stateless(n))


def is_stateless(node: Node) -> bool:
    """Say whether a node is a transform without state and without a rule of its own."""
    return node.kind is NodeKind.TRANSFORM and node.operator not in _JUDGED_ELSEWHERE


def feeds_state(topology: Topology, node: str | None) -> bool:
    """Say whether a stateful operator lies below a node."""
    if node is None:
        return False
    graph = topology.graph()
    below = nx.descendants(graph, node) if node in graph else set()
    return any(n.id in below and n.operator in STATEFUL for n in topology.nodes)


def changed_transforms(c: Comparison) -> Iterator[TransformChange]:
    """Yield the stateless transforms that differ, in the new graph's order, then the removed."""
    old = {n.id: n for n in c.before.topology.nodes}
    partner = {a: old[b] for b, a in c.nodes.pairs.items()}
    for node in c.after.topology.nodes:
        was = partner.get(node.id)
        if not is_stateless(node) or (was is not None and meaning(was) == meaning(node)):
            continue
        yield _change(c, was, node)
    for node_id in c.nodes.removed:
        if is_stateless(old[node_id]):
            yield _change(c, old[node_id], None)


def _change(c: Comparison, was: Node | None, now: Node | None) -> TransformChange:
    verb = "was added" if was is None else "was removed" if now is None else "changed"
    word = (now or was).operator.replace("_", " ")  # type: ignore[union-attr]
    return TransformChange(
        before=was.id if was else None,
        after=now.id if now else None,
        was=was.label if was else None,
        now=now.label if now else None,
        feeds_state=feeds_state(c.before.topology, was.id if was else None)
        or feeds_state(c.after.topology, now.id if now else None),
        sentence=f"A {word} {verb}.",
    )


def user_functions(topology: Topology) -> frozenset[str]:
    """Return the names of user-defined functions that the graph's transforms call."""
    found = (_UDF.finditer(f"{n.label} {n.details}") for n in topology.nodes)
    return frozenset(m["name"] or "the function" for matches in found for m in matches)
