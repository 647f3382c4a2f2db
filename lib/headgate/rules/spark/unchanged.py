"""Whether anything differs that could change what an operator stores."""

from __future__ import annotations

from collections import Counter
from typing import Any

from headgate.model.topology import Node, Topology
from headgate.model.version import StatefulOperator, Version
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.rule import Comparison
from headgate.rules.core.upstream import is_stateless, meaning, visible

_TYPED = frozenset({"plan-json", "capture", "version"})
_RESOLVED = frozenset({"project", "filter"})
"""Steps whose details are resolved to source columns: their labels only name them."""


def unchanged_input(c: Comparison, pair: OperatorPair) -> bool:
    """Say whether an operator, its input and everything below it are the same in both versions.

    Pruning makes the whole graph matter, not only what lies above. Equal text of another type
    is possible where the evidence has no types at all.
    """
    return (
        bool(c.before.topology.nodes)
        and _has_types(c.before)
        and _has_types(c.after)
        and _steps(c.before.topology) == _steps(c.after.topology)
        and _columns(c.before) == _columns(c.after)
        and _core(pair.before) == _core(pair.after)
    )


def _steps(topology: Topology) -> Counter[tuple[Any, ...]]:
    """Return what all stateless transforms do, whatever they call what they compute."""
    return Counter(_step(n) for n in topology.nodes if is_stateless(n))


def _step(node: Node) -> tuple[Any, ...]:
    if node.operator not in _RESOLVED:
        return meaning(node)
    told = visible(node)
    computed = told.pop("columns", None)
    values = sorted(map(str, computed.values())) if isinstance(computed, dict) else computed
    return (node.operator, repr(values), repr(sorted(told.items())))


def _has_types(version: Version) -> bool:
    """Say whether the types of what is read are known; a version made by hand needs none."""
    if not version.evidence:
        return True
    told = [s.column_types for s in version.sources or ()]
    return any(e.kind in _TYPED for e in version.evidence) and all(
        types is not None and None not in types for types in told
    )


def _core(operator: StatefulOperator | None) -> tuple[Any, ...]:
    if operator is None:
        return ()
    o = operator
    return (o.kind, o.keys, o.right_keys, o.functions, o.join_type, o.condition, o.window)


def _columns(version: Version) -> list[Any]:
    """Return names and types: one expression over a column of another type is another."""
    return [(s.columns, s.column_types) for s in version.sources or ()]
