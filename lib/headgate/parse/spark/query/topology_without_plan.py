"""Sketch the graph of a query whose plan is not among the evidence.

A checkpoint knows a query's sources and stateful operators, and that operators are numbered from
the output up. It does not know what is between, nor, with several sources, which of them feeds
which operator: then one node represents all unknown operators. Transforms, keys and repartitions
are missing. Ids are made as for a plan without the operators that are not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import OperatorKind, Sink, Source, StatefulOperator
from headgate.parse.spark.operators.canonical import SINK, node_id
from headgate.parse.spark.query.topology import numbered, sink_node, source_node, store_nodes

WARNING = (
    "the evidence has no query plan: transformations, keys and repartitions are unknown. Add the "
    "output of `explain`, or capture the query"
)
_JOIN_INPUTS = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sketch:
    """The graph, and the sources and operators with the ids of their nodes."""

    topology: Topology
    sources: tuple[Source, ...] | None
    operators: tuple[StatefulOperator, ...] | None
    warnings: tuple[str, ...] = ()


def sketch(
    sources: Sequence[Source] | None,
    operators: Sequence[StatefulOperator] | None,
    sink: Sink | None,
) -> Sketch:
    """Return what is certain of the graph; only the sink if nothing else is known."""
    end = sink_node(sink)
    if not sources and not operators:
        return Sketch(Topology((end,), ()), _kept(sources), _kept(operators))
    placed, head, edges = _operators(operators or ())
    gap = _gap(sources or (), placed, head)
    if gap is not None:
        edges = [*(Edge(gap.id, o.node or "") for o in placed), *_to_sink(placed, gap)]
        head = gap.id
    fed = tuple(replace(s, node=node_id("source", head, s.position)) for s in sources or ())
    edges = [*(Edge(s.node or "", head) for s in fed), *edges]
    nodes = [source_node(s.node or "", s) for s in fed]
    nodes += [gap] if gap else []
    for operator in reversed(placed):
        nodes.append(_operator_node(operator))
        stores = store_nodes(operator.node or "", operator.stores)
        nodes += stores
        edges += [Edge(operator.node or "", s.id) for s in stores]
    topology = numbered([*nodes, end], edges)
    return Sketch(
        topology,
        None if sources is None else fed,
        None if operators is None else placed,
        (WARNING,),
    )


def _kept(values: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)


def _operators(
    operators: Sequence[StatefulOperator],
) -> tuple[tuple[StatefulOperator, ...], str, list[Edge]]:
    """Return the operators as a chain that ends in the sink, its upper end, and its edges."""
    placed: list[StatefulOperator] = []
    edges: list[Edge] = []
    below = SINK
    for operator in sorted(operators, key=lambda o: o.operator_id or 0):
        node = node_id(operator.kind.value, below, 0)
        stores = tuple(replace(s, node=node) for s in operator.stores)
        placed.append(replace(operator, node=node, stores=stores))
        edges.append(Edge(node, below))
        below = node
    return tuple(placed), below, edges


def _gap(
    sources: Sequence[Source], operators: Sequence[StatefulOperator], head: str
) -> Node | None:
    """Return a node for unknown operators, if the sources could feed different operators."""
    joins_all = (
        len(operators) == 1
        and operators[0].kind is OperatorKind.STREAM_JOIN
        and len(sources) == _JOIN_INPUTS
    )
    if len(sources) <= 1 or not operators or joins_all:
        return None
    return Node(node_id("unknown", head, 0), NodeKind.TRANSFORM, "unknown", "unknown operators")


def _to_sink(operators: Sequence[StatefulOperator], gap: Node) -> list[Edge]:
    return [Edge(o.node or gap.id, SINK) for o in operators]


def _operator_node(operator: StatefulOperator) -> Node:
    details = {"operator_id": operator.operator_id, "name": operator.name}
    word = operator.kind.value
    kept = {k: v for k, v in details.items() if v is not None}
    return Node(operator.node or "", NodeKind.TRANSFORM, word, word.replace("_", " "), 0, kept)
