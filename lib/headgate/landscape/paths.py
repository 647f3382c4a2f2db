"""Ways through the landscape: from one thing to another, and what a change reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from headgate.landscape.flow import CROSSING, flow, reached, unit_of
from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapeNode

Ends = str | Iterable[str]
"""A node id, `pipeline:NAME` for all nodes of a pipeline, or several node ids."""
FAR = 1_000_000
"""Weight of an edge between a pipeline and a topic: more than any path inside a pipeline."""


@dataclass(frozen=True, slots=True)
class Path:
    """The way with the fewest steps from one thing to another.

    `nodes` are node ids from start to end, empty where data takes no such way; `stops` the same
    as pipelines (`pipeline:NAME`), topics and groups. `has_more` says whether there is another
    way, `between` holds the nodes of all ways. `back` is the way in the other direction, looked
    for only where there is none in this one.
    """

    nodes: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    has_more: bool = False
    between: frozenset[str] = frozenset()
    back: tuple[str, ...] = ()
    back_stops: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether data flows from the start to the end."""
        return bool(self.nodes)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a change reaches (or what feeds it), without the thing itself.

    `nodes` are ids with their number of steps. `pipelines`, `topics` and `groups` are names in
    the landscape's order, `stores` and `sinks` node ids. A pipeline that the thing is part of is
    not listed. `owners` are the people to notify, each with their pipelines; `unowned` are
    pipelines without an owner and undeclared groups: there is nobody to notify.
    """

    nodes: dict[str, int]
    pipelines: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    owners: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unowned: tuple[str, ...] = ()


def path_between(landscape: Landscape, start: Ends, end: Ends) -> Path:
    """Return the way that data takes; ids that are not there make for no way."""
    graph = flow(landscape)
    starts, ends = ids_of(landscape, start), ids_of(landscape, end)
    nodes = _shortest(graph, starts, ends)
    if not nodes:
        back = _shortest(graph, ends, starts)
        return Path(back=back, back_stops=_stops(landscape, back))
    between = reached(graph, starts).keys() & reached(graph, ends, backwards=True).keys()
    more = _another(graph.subgraph(between), nodes, starts, ends)
    return Path(nodes, _stops(landscape, nodes), more, frozenset(between))


def downstream(landscape: Landscape, start: Ends) -> Reach:
    """Return everything that a change of the thing reaches."""
    return _reach(landscape, start, backwards=False)


def upstream(landscape: Landscape, start: Ends) -> Reach:
    """Return everything whose data reaches the thing."""
    return _reach(landscape, start, backwards=True)


def ids_of(landscape: Landscape, thing: Ends) -> frozenset[str]:
    """Return the node ids that a thing stands for; unknown ones are left out."""
    known = frozenset(n.id for n in landscape.nodes)
    if isinstance(thing, str):
        pipeline = landscape.pipeline(thing.removeprefix("pipeline:"))
        if thing not in known and thing.startswith("pipeline:") and pipeline is not None:
            return known.intersection(pipeline.nodes)
        thing = (thing,)
    return known.intersection(thing)


def _shortest(
    graph: nx.DiGraph[str], starts: frozenset[str], ends: frozenset[str]
) -> tuple[str, ...]:
    """Fewest steps, then fewest nodes; of several the first by the landscape's order."""
    if not starts or not ends:
        return ()
    ordered = [n for n in graph if n in starts]
    lengths = dict(nx.multi_source_dijkstra_path_length(graph, ordered, weight=_weight))
    there = [n for n in graph if n in ends and n in lengths]
    if not there:
        return ()
    paths: dict[str, list[str]] = nx.multi_source_dijkstra_path(graph, ordered, weight=_weight)
    return tuple(paths[min(there, key=lengths.__getitem__)])


def _weight(_source: str, _target: str, edge: dict[str, int]) -> int:
    return edge[CROSSING] * FAR + 1


def _another(
    graph: nx.DiGraph[str], nodes: tuple[str, ...], starts: frozenset[str], ends: frozenset[str]
) -> bool:
    """Whether a second way exists: one that misses an edge of the first, for ways have no loops.

    Ways that differ only in where they leave the one thing or enter the other are one.
    """
    if len(nodes) == 1:
        return False
    role = dict.fromkeys(starts, nodes[0]) | dict.fromkeys(ends, nodes[-1])
    joined: nx.DiGraph[str] = nx.DiGraph(
        (role.get(a, a), role.get(b, b)) for a, b in graph.edges if role.get(a, a) != role.get(b, b)
    )
    return any(_around(joined, nodes, edge) for edge in pairwise(nodes))


def _around(graph: nx.DiGraph[str], nodes: tuple[str, ...], edge: tuple[str, str]) -> bool:
    rest = nx.restricted_view(graph, [], [edge])
    return bool(nx.has_path(rest, nodes[0], nodes[-1]))


def _stops(landscape: Landscape, nodes: Iterable[str]) -> tuple[str, ...]:
    by_id = {n.id: n for n in landscape.nodes}
    units = [unit_of(by_id[n]) for n in nodes]
    return tuple(u for u, before in zip(units, [None, *units], strict=False) if u != before)


def _reach(landscape: Landscape, start: Ends, *, backwards: bool) -> Reach:
    starts = ids_of(landscape, start)
    found = reached(flow(landscape), starts, backwards=backwards)
    steps = {node: cost for node, cost in found.items() if node not in starts}
    nodes = [n for n in landscape.nodes if n.id in steps]
    own = {n.pipeline for n in landscape.nodes if n.id in starts}
    touched = {n.pipeline for n in nodes} - own
    pipelines = [p for p in landscape.pipelines if p.name in touched]
    groups = tuple(_labels(nodes, LandscapeKind.GROUP))
    owners: dict[str, list[str]] = {}
    for pipeline in pipelines:
        owners.setdefault(pipeline.owner or "", []).append(pipeline.name)
    unowned = owners.pop("", [])
    return Reach(
        nodes=steps,
        pipelines=tuple(p.name for p in pipelines),
        topics=tuple(_labels(nodes, LandscapeKind.TOPIC)),
        groups=groups,
        stores=tuple(n.id for n in nodes if n.kind is LandscapeKind.STATE_STORE),
        sinks=tuple(n.id for n in nodes if n.kind is LandscapeKind.SINK),
        owners=tuple((owner, tuple(names)) for owner, names in owners.items()),
        unowned=(*unowned, *groups),
    )


def _labels(nodes: Iterable[LandscapeNode], kind: LandscapeKind) -> Iterator[str]:
    yield from (n.label for n in nodes if n.kind is kind)
