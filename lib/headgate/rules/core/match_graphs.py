"""Which node of one graph is which in another: by what it does and by its neighbours.

Four steps, each only over what the ones before left:
1. what somebody declared, and what the engine itself takes for one;
2. equal parts: nodes whose whole way from the sources, or to the sinks, is the same;
3. equal nodes: along edges from what is matched, and if there is one of a kind on each side;
4. changed nodes: of one operator between matched neighbours, then those whose words are alike.

Every step finds nodes by a key or along edges and compares at most a few candidates with one
another, so that the work grows as n log n. No step uses only ids: one of Spark depends on the
way to the sink, so all ids above an inserted operator are others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from headgate.model.topology import Node, NodeKind, Topology

_LIKELY, _SIMILAR = 0.75, 0.6
"""Minimum share of equal words in two labels: for neighbours of matched nodes, and for others."""
_CANDIDATES = 8
"""Maximum number of nodes with which Headgate compares one node by label."""
_KAFKA_STREAMS = frozenset({"source", "sink", "repartition", "global_source"})
"""Operators of topic nodes in Kafka Streams. In Spark, the operator of a topic node is its format.
"""
_TOKEN = re.compile(r"\w+|[^\w\s]")

Pair = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Matches:
    """Nodes of the graph: pairs by id, and what has no counterpart."""

    pairs: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def match_nodes(
    before: Topology,
    after: Topology,
    anchors: Iterable[Pair] = (),
    *,
    declared: Iterable[Pair] = (),
) -> Matches:
    """Pair the nodes of two graphs; repeatable, and free of the order in which they are listed.

    `declared` pairs hold whatever they are of, `anchors` (what the engine takes for one) where
    kind and operator agree.
    """
    work = _Matching(_Side(before), _Side(after))
    for pair in declared:
        work.pair(*pair)
    for b, a in anchors:
        if b in work.old.nodes and a in work.new.nodes and work.is_one_operator(b, a):
            work.pair(b, a)
    work.equal_parts()
    work.along_edges(_content)
    work.one_of_a_kind(_content)
    work.along_edges(_content)
    work.along_edges(_operator, least=_LIKELY)
    work.alike()
    work.along_edges(_operator)
    work.one_of_a_kind(lambda n: (n.id, _operator(n)))
    work.along_edges(_operator)
    return work.matches()


def _operator(node: Node) -> Hashable:
    """Return what two nodes share that may be a changed form of one another.

    What the engine finds only by its name is another thing under another name: a state store,
    and with Kafka Streams a topic.
    """
    by_name = node.kind is NodeKind.STATE_STORE or (
        node.kind is not NodeKind.TRANSFORM and node.operator in _KAFKA_STREAMS
    )
    return node.kind, node.operator, node.label if by_name else ""


def _content(node: Node) -> Hashable:
    return node.kind, node.operator, node.label


class _Side:
    """One graph, with what is above and below each node, and which nodes are matched."""

    def __init__(self, topology: Topology) -> None:
        self.nodes = {n.id: n for n in topology.nodes}
        self.above: dict[str, list[str]] = {i: [] for i in self.nodes}
        self.below: dict[str, list[str]] = {i: [] for i in self.nodes}
        for edge in topology.edges:
            if edge.source in self.nodes and edge.target in self.nodes:
                self.above[edge.target].append(edge.source)
                self.below[edge.source].append(edge.target)
        self.free = dict.fromkeys(self.nodes)

    def ways(self, inputs: Mapping[str, list[str]], numbers: dict[Hashable, int]) -> dict[str, int]:
        """Return a number for each node, equal where node and everything behind `inputs` are.

        `numbers` is shared by both graphs. Nodes on a cycle have none.
        """
        outputs = self.below if inputs is self.above else self.above
        waiting = {i: len(inputs[i]) for i in self.nodes}
        ready = deque(i for i, count in waiting.items() if not count)
        found: dict[str, int] = {}
        while ready:
            node = ready.popleft()
            key = (_content(self.nodes[node]), tuple(sorted(found[i] for i in inputs[node])))
            found[node] = numbers.setdefault(key, len(numbers))
            for other in outputs[node]:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
        return found


class _Matching:
    """The matching as it grows: `pairs` maps old ids to new ones."""

    def __init__(self, old: _Side, new: _Side) -> None:
        self.old, self.new = old, new
        self.pairs: dict[str, str] = {}
        self.tokens: dict[str, Counter[str]] = {}

    def pair(self, b: str | None, a: str | None) -> None:
        """Take two nodes for one, unless one of them is taken or not there."""
        if b in self.old.free and a in self.new.free:
            self.pairs[b] = a
            del self.old.free[b], self.new.free[a]

    def is_one_operator(self, b: str, a: str) -> bool:
        """Say whether two nodes are of one kind and one operator word."""
        return _operator(self.old.nodes[b]) == _operator(self.new.nodes[a])

    def equal_parts(self) -> None:
        """Pair what is equal with all that is above and below, then only above, then only below."""
        numbers: dict[Hashable, int] = {}
        old_up, new_up = (s.ways(s.above, numbers) for s in (self.old, self.new))
        numbers = {}
        old_down, new_down = (s.ways(s.below, numbers) for s in (self.old, self.new))
        self._by_key(
            {i: (old_up[i], old_down.get(i)) for i in old_up},
            {i: (new_up[i], new_down.get(i)) for i in new_up},
        )
        self._by_key(old_down, new_down)
        self._by_key(old_up, new_up)

    def one_of_a_kind(self, key: Callable[[Node], Hashable]) -> None:
        """Pair nodes that are the only one left with their key in each graph."""
        self._by_key(*({i: key(s.nodes[i]) for i in s.free} for s in (self.old, self.new)))

    def _by_key(self, old: Mapping[str, Hashable], new: Mapping[str, Hashable]) -> None:
        left, right = _buckets(old, self.old.free), _buckets(new, self.new.free)
        for key, ids in left.items():
            others = right.get(key, [])
            if len(ids) != len(others):
                continue
            same = set(ids) & set(others)
            for i in same:
                self.pair(i, i)
            rest = ([i for i in found if i not in same] for found in (ids, others))
            for b, a in zip(*rest, strict=True):
                self.pair(b, a)

    def along_edges(self, key: Callable[[Node], Hashable], *, least: float = 0.0) -> None:
        """Pair free neighbours of matched nodes that have one key, and continue from there.

        `least` is the share of equal words that their labels need.
        """
        waiting = deque(self._border())
        while waiting:
            b = waiting.popleft()
            for old, new in ((self.old.above, self.new.above), (self.old.below, self.new.below)):
                left = [i for i in old[b] if i in self.old.free]
                right = [i for i in new[self.pairs[b]] if i in self.new.free] if left else []
                for pair in self._neighbours(left, right, key, least) if right else ():
                    self.pair(*pair)
                    waiting.append(pair[0])

    def _border(self) -> Iterable[str]:
        """Return the matched old nodes that have free neighbours, in the order of those."""
        around = (i for n in self.old.free for i in (*self.old.above[n], *self.old.below[n]))
        return dict.fromkeys(i for i in around if i in self.pairs)

    def _neighbours(
        self,
        old: Sequence[str],
        new: Sequence[str],
        key: Callable[[Node], Hashable],
        least: float,
    ) -> list[tuple[str, str]]:
        left = _buckets({i: key(self.old.nodes[i]) for i in old}, self.old.free)
        right = _buckets({i: key(self.new.nodes[i]) for i in new}, self.new.free)
        found: list[tuple[str, str]] = []
        for shared, ids in left.items():
            found += self._likest(ids, right.get(shared, []), least)
        return found

    def _likest(
        self, ids: Sequence[str], others: Sequence[str], least: float
    ) -> list[tuple[str, str]]:
        """Pair the nodes of two lists of one key; in their order where the lists are long."""
        tried: Iterable[tuple[str, str]] = product(ids, others)
        if max(len(ids), len(others)) > _CANDIDATES:
            tried = zip(ids, others, strict=False)
        scored = ((self._similarity(b, a), b, a) for b, a in tried)
        return _greedy(s for s in scored if s[0] >= least)

    def alike(self) -> None:
        """Pair what is left by the words of the labels, within one operator."""
        index: dict[Hashable, list[str]] = defaultdict(list)
        for a in self.new.free:
            node = self.new.nodes[a]
            for word in self._words(node):
                index[_operator(node), word].append(a)
        scored = []
        for b in self.old.free:
            for a in self._candidates(self.old.nodes[b], index):
                score = self._similarity(b, a)
                if score >= _SIMILAR:
                    scored.append((score, b, a))
        for pair in _greedy(scored):
            self.pair(*pair)

    def _candidates(self, node: Node, index: Mapping[Hashable, list[str]]) -> list[str]:
        """Return a few nodes that share the rarest words with one."""
        lists = [index.get((_operator(node), w), []) for w in self._words(node)]
        found: dict[str, None] = {}
        for ids in sorted(filter(None, lists), key=lambda ids: (len(ids), ids[0])):
            found |= dict.fromkeys(ids[:_CANDIDATES])
            if len(found) >= _CANDIDATES:
                break
        return list(found)[:_CANDIDATES]

    def _similarity(self, b: str, a: str) -> float:
        old, new = self.old.nodes[b], self.new.nodes[a]
        if old.label == new.label:
            return 1.0 + (b == a)
        return _shared(self._tokens(old), self._tokens(new))

    def _words(self, node: Node) -> list[str]:
        return [t for t in self._tokens(node) if t[0].isalnum() or t[0] == "_"]

    def _tokens(self, node: Node) -> Counter[str]:
        if (found := self.tokens.get(node.label)) is None:
            found = self.tokens[node.label] = Counter(_TOKEN.findall(node.label))
        return found

    def matches(self) -> Matches:
        """Return what was found, in the order of the graphs."""
        return Matches(
            {b: self.pairs[b] for b in self.old.nodes if b in self.pairs},
            tuple(self.new.free),
            tuple(self.old.free),
        )


def _buckets(keys: Mapping[str, Hashable], free: Mapping[str, None]) -> dict[Hashable, list[str]]:
    found: dict[Hashable, list[str]] = defaultdict(list)
    for node, key in keys.items():
        if node in free:
            found[key].append(node)
    return found


def _greedy(scored: Iterable[tuple[float, str, str]]) -> list[tuple[str, str]]:
    """Return pairs best first, none twice; ties by id, so that it is repeatable."""
    found: list[tuple[str, str]] = []
    old: set[str] = set()
    new: set[str] = set()
    for _, b, a in sorted(scored, key=lambda s: (-s[0], s[1], s[2])):
        if b not in old and a not in new:
            found.append((b, a))
            old.add(b)
            new.add(a)
    return found


def _shared(old: Counter[str], new: Counter[str]) -> float:
    """Return how much two bags of words share, 0 to 1 (Dice's coefficient)."""
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 1.0
