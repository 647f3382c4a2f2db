"""What feeds an operator: the part of the graph above it, in words that outlast a run."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headgate.model.topology import Node, NodeKind, Topology
from headgate.rules.core.rule import Comparison

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
        "changelog",
        "checkpoint_format",
        "described_as",
        "encoding",
        "format",
        "inferred",
        "line",
        "offsets",
        "operator_id",
        "output_mode",
        "partitions",
        "plan_id",
        "position",
        "provider",
        "read_by",
        "schema",
        "start_offsets",
        "told_by",
        "topic_configs",
        "topic_partitions",
        "used_by",
        "written_by",
    }
)
_NOT_NULL = re.compile(r"^isnotnull\((.*)\)$")
_WINDOW_OVER = re.compile(r"^(?:session_)?window\(([^,]+),")
_SOURCE_PREFIX = re.compile(r"\bs\d+\.")


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


def canonical(value: Any) -> str:
    """Return a detail as text that is equal for equal values: neither order nor tuples count.

    A version that was kept in a file has its keys sorted, one that was just read has not.
    """
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)


def meaning(node: Node) -> tuple[Any, ...]:
    """Return what must be equal for two nodes to do the same."""
    details = tuple((k, canonical(v)) for k, v in sorted(visible(node).items()))
    return (node.kind.value, node.operator, node.label, details)


def appearance(node: Node) -> tuple[Any, ...]:
    """Return what must be equal for two nodes to look the same.

    State schemas compare by their types: names of stored columns decide nothing.
    """
    details = {k: v for k, v in visible(node).items() if k not in ("key_schema", "value_schema")}
    schemas = [_types(node.details.get(k)) for k in ("key_schema", "value_schema")]
    return (node.operator, node.label, canonical(details), repr(schemas))


def _types(schema: Any) -> list[Any]:
    return [(f.get("type"), f.get("nullable")) for f in schema or ()]


def transforms(topology: Topology) -> Counter[tuple[Any, ...]]:
    """Return what all stateless transforms of a graph do, counted."""
    return Counter(meaning(n) for n in topology.nodes if is_stateless(n))


def is_stateless(node: Node) -> bool:
    """Say whether a node is a transform without state and without a rule of its own."""
    return node.kind is NodeKind.TRANSFORM and node.operator not in _JUDGED_ELSEWHERE


def feeding_state(topology: Topology) -> frozenset[str]:
    """Return the ids of all nodes above a stateful operator."""
    return _above(topology, [n.id for n in topology.nodes if n.operator in STATEFUL])


def _above(topology: Topology, ends: Iterable[str]) -> frozenset[str]:
    """Return the ids of all nodes from which one of `ends` is reached."""
    inputs: dict[str, list[str]] = {}
    for edge in topology.edges:
        inputs.setdefault(edge.target, []).append(edge.source)
    found: set[str] = set()
    waiting = [i for end in ends for i in inputs.get(end, ())]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(inputs.get(node, ()))
    return frozenset(found)


def is_drawn(topology: Topology) -> bool:
    """Say whether there was a plan to draw from: only a checkpoint shows no more than the sink."""
    return any(n.kind is NodeKind.SOURCE for n in topology.nodes)


def branch(topology: Topology, node: str | None) -> tuple[Counter[tuple[Any, ...]], ...]:
    """Return what feeds a node, without the positions of sources: two equal branches are equal."""
    above = _above(topology, [node] if node else [])
    nodes = [n for n in topology.nodes if n.id in above or n.id == node]
    transforms_ = Counter(_without_positions(n) for n in nodes if n.kind is NodeKind.TRANSFORM)
    sources = Counter((n.label,) for n in nodes if n.kind is NodeKind.SOURCE)
    return transforms_, sources


def _without_positions(node: Node) -> tuple[Any, ...]:
    details = canonical(visible(node))
    return (node.operator, _SOURCE_PREFIX.sub("s.", node.label), _SOURCE_PREFIX.sub("s.", details))


def changed_transforms(c: Comparison) -> Iterator[TransformChange]:
    """Yield the stateless transforms that differ, in the new graph's order, then the removed.

    Nothing where one version's graph is not known.
    """
    if not (is_drawn(c.before.topology) and is_drawn(c.after.topology)):
        return
    feeding = feeding_state(c.before.topology) | feeding_state(c.after.topology)
    old = {n.id: n for n in c.before.topology.nodes}
    partner = {a: old[b] for b, a in c.nodes.pairs.items()}
    for node in c.after.topology.nodes:
        was = partner.get(node.id)
        if was is not None and _is_other_table(was, node):
            yield _change(was, node, feeding)
        if not is_stateless(node) or (was is not None and meaning(was) == meaning(node)):
            continue
        if was is None and _is_implied(node, c.after.topology):
            continue
        yield _change(was, node, feeding)
    for node_id in c.nodes.removed:
        if is_stateless(old[node_id]) and not _is_implied(old[node_id], c.before.topology):
            yield _change(old[node_id], None, feeding)


def _is_other_table(was: Node, now: Node) -> bool:
    """Say whether a static table is read from another location."""
    paths = {n.details.get("path") for n in (was, now) if n.details.get("static")}
    return len(paths) == 2 and None not in paths


def _is_implied(node: Node, topology: Topology) -> bool:
    """Say whether a filter drops only what a window or an inner join below it drops anyway.

    The optimiser writes such filters: they are in the plan of a running query, and not in the
    analysed plan of one that was not started.
    """
    conditions = node.details.get("conditions") or ()
    columns = {m[1] for c in conditions if (m := _NOT_NULL.match(str(c)))}
    if node.operator != "filter" or not conditions or len(columns) != len(conditions):
        return False
    return bool(node.details.get("inferred")) or columns <= set(_needed(topology))


def never_null(topology: Topology, operator: str | None) -> frozenset[str]:
    """Return the columns that filters require between an operator and the stateful one before."""
    nodes, inputs = {n.id: n for n in topology.nodes}, defaultdict(list)
    for edge in topology.edges:
        inputs[edge.target].append(nodes[edge.source])
    found: set[str] = set()
    todo = [*inputs[operator or ""]]
    while todo:
        node = todo.pop()
        if node.operator not in STATEFUL:
            conditions = node.details.get("conditions") or () if node.operator == "filter" else ()
            found |= {m[1] for c in conditions if (m := _NOT_NULL.match(str(c)))}
            todo += inputs[node.id]
    return frozenset(found)


def _needed(topology: Topology) -> Iterator[str]:
    """Yield the columns without which a row reaches no window, or no row of an inner join."""
    for node in topology.nodes:
        keys = [str(k) for k in node.details.get("keys") or ()]
        if node.operator in ("stream_join", "static_join"):
            if node.details.get("join_type") == "Inner":
                yield from (*keys, *map(str, node.details.get("right_keys") or ()))
        elif node.operator in STATEFUL:
            yield from (m[1] for k in keys if (m := _WINDOW_OVER.match(k)))


def _change(was: Node | None, now: Node | None, feeding: frozenset[str]) -> TransformChange:
    verb = "was added" if was is None else "was removed" if now is None else "changed"
    node: Node = now or was  # type: ignore[assignment]
    word = node.operator.replace("_", " ")
    what = "static table" if node.kind is NodeKind.SOURCE else f"stateless operator {word}"
    return TransformChange(
        before=was.id if was else None,
        after=now.id if now else None,
        was=was.label if was else None,
        now=now.label if now else None,
        feeds_state=any(n is not None and n.id in feeding for n in (was, now)),
        sentence=f"The {what} {verb}.",
    )
