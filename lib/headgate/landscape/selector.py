"""Select a part of the landscape as dbt's users know it: `+orders`, `owner:payments,kind:topic`.

    orders              the pipeline, topic, group or node of that name
    orders*             every one whose name begins like that
    +orders  orders+    with all that feeds it, with all that it feeds
    2+orders+1          two steps up, one step down; a step leads into a pipeline or out of it
    @orders             with all downstream of it, and all that feeds those
    METHOD:VALUE        see `METHODS`
    a b                 the union            a,b                 the intersection

How names with other characters are quoted says `selector_text`.
"""

from __future__ import annotations

from functools import reduce

import networkx as nx

from headgate.landscape.flow import flow, reached
from headgate.landscape.landscape import Landscape
from headgate.landscape.selector_grammar import ALL, Factor, parse, quoted
from headgate.landscape.selector_methods import METHODS, Catalog

__all__ = ["METHODS", "find", "quoted", "select"]


def select(landscape: Landscape, expression: str, exclude: str = "") -> frozenset[str]:
    """Return the node ids that `expression` selects and `exclude` does not.

    An empty expression selects everything, an empty exclusion takes nothing away. A wildcard may
    match nothing, a plain name must exist: SelectorError has its position and near names.
    """
    terms = parse(expression)
    chosen = _Selection(landscape, expression).union(terms) if terms else _all(landscape)
    if taken := parse(exclude):
        chosen -= _Selection(landscape, exclude).union(taken)
    return chosen


def find(landscape: Landscape, text: str) -> frozenset[str]:
    """Return the nodes of one thing, named as in a selector; no union, no steps."""
    terms = parse(text)
    if len(terms) == 1 and len(terms[0]) == 1:
        (factor,) = terms[0]
        if not (factor.up or factor.down or factor.around):
            return Catalog(landscape, text).find(factor)
    return Catalog(landscape, text).named(text)


def _all(landscape: Landscape) -> frozenset[str]:
    return frozenset(n.id for n in landscape.nodes)


class _Selection:
    def __init__(self, landscape: Landscape, expression: str) -> None:
        self.catalog = Catalog(landscape, expression)
        self.landscape = landscape
        self._graph: nx.DiGraph[str] | None = None

    @property
    def graph(self) -> nx.DiGraph[str]:
        if self._graph is None:
            self._graph = flow(self.landscape)
        return self._graph

    def union(self, terms: tuple[tuple[Factor, ...], ...]) -> frozenset[str]:
        found = (reduce(frozenset.__and__, map(self.factor, factors)) for factors in terms)
        return frozenset[str]().union(*found)

    def factor(self, factor: Factor) -> frozenset[str]:
        found = self.catalog.find(factor)
        if factor.around:
            return self._walk(self._walk(found, ALL, False), ALL, True)
        up = self._walk(found, factor.up, True) if factor.up else found
        down = self._walk(found, factor.down, False) if factor.down else found
        return up | down

    def _walk(self, starts: frozenset[str], steps: int, backwards: bool) -> frozenset[str]:
        most = None if steps == ALL else steps
        return frozenset(reached(self.graph, starts, backwards=backwards, steps=most))
