"""Fold nodes away: what fed them feeds what they fed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headgate.model.topology import Node, Topology
from headgate.views.scene.scene import Sketch, SketchEdge

_CHECK = "isnotnull("


def null_checks(topology: Topology) -> frozenset[str]:
    """Return the filters that only drop nulls: the optimiser adds them before joins and stores."""
    return frozenset(n.id for n in topology.nodes if _is_null_check(n))


def _is_null_check(node: Node) -> bool:
    if node.operator != "filter":
        return False
    conditions = node.details.get("conditions")
    if not isinstance(conditions, list | tuple) or not conditions:
        return bool(node.details.get("inferred"))
    return all(_drops_nulls(str(c)) for c in conditions)


def _drops_nulls(condition: str) -> bool:
    """Say whether a condition is one call of `isnotnull`, however deep its argument is."""
    if not condition.startswith(_CHECK):
        return False
    depth = 0
    for at, character in enumerate(condition):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return at == len(condition) - 1
    return False


def folded(sketch: Sketch, away: Collection[str]) -> Sketch:
    """Return the sketch without those nodes; edges lead through where they stood."""
    gone = set(away)
    targets: dict[str, list[SketchEdge]] = {}
    for edge in sketch.edges:
        targets.setdefault(edge.source, []).append(edge)
    kept: dict[tuple[str, str], SketchEdge] = {}
    for edge in sketch.edges:
        if edge.source in gone:
            continue
        for end in _ends(edge, targets, gone):
            kept.setdefault((end.source, end.target), end)
    nodes = tuple(n for n in sketch.nodes if n.id not in gone)
    return replace(sketch, nodes=nodes, edges=tuple(kept.values()))


def _ends(
    edge: SketchEdge, targets: dict[str, list[SketchEdge]], gone: set[str]
) -> list[SketchEdge]:
    """Follow an edge through what is folded away."""
    found, open_, seen = [], [edge], set()
    while open_:
        last = open_.pop(0)
        if last.target not in gone:
            found.append(replace(edge, target=last.target))
        elif last.target not in seen:
            seen.add(last.target)
            open_.extend(targets.get(last.target, ()))
    return found
