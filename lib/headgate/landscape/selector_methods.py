"""What the methods of selectors mean: each maps a value to the nodes that have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from headgate.errors import SelectorError
from headgate.landscape.landscape import Landscape, LandscapeKind, LandscapePipeline
from headgate.landscape.selector_grammar import Factor
from headgate.landscape.unused_resources import (
    undeclared_groups,
    unowned_topics,
    unread,
    unused,
    unwritten,
)
from headgate.model.version import Engine
from headgate.text.near_names import near_names

Pairs = Iterator[tuple[str, str]]
NEAR = 3
LONGEST = 60
"""Maximum length of names in suggestions, because the comparison takes quadratic time."""

STATES = ("unused", "unread", "unwritten", "unowned", "undeclared")
STATUSES = ("running", "stopped", "failed", "unknown")

METHODS: Mapping[str, str] = {
    "topic": "a topic by its name",
    "pipeline": "a pipeline by its name, with all of its nodes",
    "group": "a consumer group by its id, with the pipeline that declares it",
    "node": "a node by its id or by its label",
    "owner": "pipelines by their owner",
    "engine": "pipelines by their engine: " + ", ".join(Engine),
    "kind": "nodes by their kind: " + ", ".join(LandscapeKind),
    "operator": "nodes by their operator: aggregate, stream_join and so on",
    "status": "pipelines by their last known status: " + ", ".join(STATUSES),
    "state": (
        "topics that are only written (unread), only read (unwritten) or neither (unused), "
        "internal topics of no known pipeline (unowned), and groups of no registered pipeline "
        "(undeclared)"
    ),
}
"""What each method selects, in the order of the help."""
CLOSED: Mapping[str, tuple[str, ...]] = {
    "engine": tuple(Engine),
    "kind": tuple(LandscapeKind),
    "status": STATUSES,
    "state": STATES,
}
"""Methods with a fixed list of values. A valid value may select nothing."""
THINGS = {
    "topic": "topic",
    "pipeline": "pipeline",
    "group": "group",
    "node": "node",
    "owner": "owner",
    "operator": "operator",
}


class Catalog:
    """The names of one landscape, looked up by method; each method's are made at first use."""

    def __init__(self, landscape: Landscape, expression: str) -> None:
        self.landscape = landscape
        self.expression = expression
        self._nodes = {n.id for n in landscape.nodes}
        self._made: dict[str | None, dict[str, set[str]]] = {}

    def find(self, factor: Factor) -> frozenset[str]:
        """Return the nodes that a factor's value names, without its steps."""
        if factor.method is not None and factor.method not in METHODS:
            raise self._unknown_method(factor)
        names = self._names(factor.method)
        if factor.value.is_plain:
            found = names.get(factor.value.text)
            if found is None and factor.value.text not in CLOSED.get(factor.method or "", ()):
                raise self._unknown_name(factor, names)
            return frozenset(found or ())
        matching = (ids for name, ids in names.items() if factor.value.matches(name))
        return frozenset[str]().union(*matching)

    def named(self, name: str) -> frozenset[str]:
        """Return the nodes of what has exactly this name or id; SelectorError has near names."""
        names = self._names(None)
        if name not in names:
            raise self._none(name, "pipeline, topic, group or node", names, 1)
        return frozenset(names[name])

    def _names(self, method: str | None) -> dict[str, set[str]]:
        if method not in self._made:
            made: dict[str, set[str]] = {}
            for name, node in _PAIRS[method](self.landscape):
                made.setdefault(name, set())
                if node in self._nodes:
                    made[name].add(node)
            self._made[method] = made
        return self._made[method]

    def _unknown_method(self, factor: Factor) -> SelectorError:
        assert factor.method is not None
        near = near_names(factor.method[:LONGEST], METHODS, NEAR)
        hint = f"Similar: {', '.join(near)}" if near else f"Methods: {', '.join(METHODS)}"
        return self._error(
            f"unknown method `{_short(factor.method)}`. {hint}. If a name "
            "contains a colon, put the name in quotes",
            factor.method_position,
        )

    def _unknown_name(self, factor: Factor, names: Iterable[str]) -> SelectorError:
        if there := ", ".join(CLOSED.get(factor.method or "", ())):
            message = f"unknown value `{_short(factor.value.text)}`: expected {there}"
            return self._error(message, factor.position)
        what = THINGS.get(factor.method or "", "pipeline, topic, group or node")
        return self._none(factor.value.text, what, names, factor.position)

    def _none(self, name: str, what: str, names: Iterable[str], position: int) -> SelectorError:
        near = near_names(name, names, NEAR)
        hint = f". Similar names: {', '.join(near)}" if near else ""
        return self._error(f"no {what} has the name `{_short(name)}`{hint}", position)

    def _error(self, message: str, position: int) -> SelectorError:
        return SelectorError(message, expression=self.expression, position=position)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _topics(landscape: Landscape) -> Pairs:
    yield from ((t.name, t.id) for t in landscape.topics)


def _pipelines(landscape: Landscape) -> Pairs:
    yield from ((p.name, node) for p in landscape.pipelines for node in _nodes_of(p))


def _groups(landscape: Landscape) -> Pairs:
    pipelines = {p.name: p for p in landscape.pipelines}
    for group in landscape.groups:
        declared = pipelines.get(group.pipeline or "")
        for node in _nodes_of(declared) if declared else (group.node or "",):
            yield group.id, node
    yield from ((p.group, node) for p in landscape.pipelines if p.group for node in _nodes_of(p))


def _nodes(landscape: Landscape) -> Pairs:
    for node in landscape.nodes:
        yield node.id, node.id
        yield node.label, node.id


def _anything(landscape: Landscape) -> Pairs:
    for pairs in (_pipelines, _topics, _groups):
        yield from pairs(landscape)
    yield from ((n.id, n.id) for n in landscape.nodes)


def _of_pipelines(landscape: Landscape, value: Callable[[LandscapePipeline], str | None]) -> Pairs:
    for pipeline in landscape.pipelines:
        if (name := value(pipeline)) is not None:
            yield from ((name, node) for node in _nodes_of(pipeline))


def _nodes_of(pipeline: LandscapePipeline) -> tuple[str, ...]:
    return pipeline.nodes or (f"{pipeline.name}/pipeline",)


def _kinds(landscape: Landscape) -> Pairs:
    for node in landscape.nodes:
        yield node.kind.value, node.id
        if node.pipeline is not None:
            yield LandscapeKind.PIPELINE.value, node.id


def _operators(landscape: Landscape) -> Pairs:
    yield from ((node.operator, node.id) for node in landscape.nodes)


def _states(landscape: Landscape) -> Pairs:
    listed: Mapping[str, Iterable[str | None]] = {
        "unused": (t.id for t in unused(landscape)),
        "unread": (t.id for t in unread(landscape)),
        "unwritten": (t.id for t in unwritten(landscape)),
        "unowned": (t.id for t in unowned_topics(landscape)),
        "undeclared": (g.node for g in undeclared_groups(landscape)),
    }
    for state, ids in listed.items():
        yield from ((state, node) for node in ids if node)


_PAIRS: Mapping[str | None, Callable[[Landscape], Pairs]] = {
    None: _anything,
    "topic": _topics,
    "pipeline": _pipelines,
    "group": _groups,
    "node": _nodes,
    "owner": lambda landscape: _of_pipelines(landscape, lambda p: p.owner),
    "engine": lambda landscape: _of_pipelines(landscape, lambda p: p.engine.value),
    "kind": _kinds,
    "operator": _operators,
    "status": lambda landscape: _of_pipelines(landscape, lambda p: p.status or "unknown"),
    "state": _states,
}
