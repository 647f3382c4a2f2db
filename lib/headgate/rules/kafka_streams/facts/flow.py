"""The graph of one application by the description's names, across its repartitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from headgate.model.kafka_streams import StreamsApplication, StreamsProcessor, StreamsStore

Key = tuple[str, str]
"""A processor by its named topology (empty if there is only one topology) and its name."""

UNREAD = frozenset({"processor", "stateful_processor", "unknown"})
"""Operators of processors with a custom name: Topology#describe() doesn't show what they do."""


class Numbers:
    """Gives equal things equal numbers; shared by both versions, so that numbers compare."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, thing: Hashable) -> int:
        """Return the thing's number."""
        return self._known.setdefault(thing, len(self._known))


@dataclass(frozen=True)
class Flow:
    """Processors with their neighbours; a repartition's source follows the repartition's sinks.

    `kept` is where others keep what they worked out of a store, by topology and name.
    """

    app: StreamsApplication
    numbers: Numbers = field(default_factory=Numbers)
    kept: dict[Key, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def nodes(self) -> Mapping[Key, StreamsProcessor]:
        """All processors by key."""
        return {_key(p): p for p in self.app.processors}

    @cached_property
    def above(self) -> Mapping[Key, tuple[Key, ...]]:
        """What feeds each processor."""
        found = {k: [(k[0], n) for n in p.predecessors] for k, p in self.nodes.items()}
        topologies = {k[0] for k in self.nodes}
        for repartition in self.app.repartitions:
            for topology in topologies:
                sinks = [(topology, s) for s in repartition.sinks if (topology, s) in self.nodes]
                for source in repartition.sources:
                    if (topology, source) in found:
                        found[topology, source].extend(sinks)
        return {k: tuple(n for n in names if n in self.nodes) for k, names in found.items()}

    @cached_property
    def named(self) -> Mapping[str, tuple[Key, ...]]:
        """The processors of each name: one for each named topology that has it."""
        found: dict[str, list[Key]] = {}
        for key in self.nodes:
            found.setdefault(key[1], []).append(key)
        return {name: tuple(keys) for name, keys in found.items()}

    def all_named(self, names: Iterable[str]) -> list[Key]:
        """Return the processors of these names."""
        return [k for name in names for k in self.named.get(name, ())]

    @cached_property
    def below(self) -> Mapping[Key, tuple[Key, ...]]:
        """What each processor feeds."""
        found: dict[Key, list[Key]] = {k: [] for k in self.nodes}
        for key, names in self.above.items():
            for name in names:
                found[name].append(key)
        return {k: tuple(v) for k, v in found.items()}

    def behind(self, start: Key) -> frozenset[Key]:
        """Return all processors that a processor feeds, also through others."""
        ahead, seen = [*self.below[start]], set[Key]()
        while ahead:
            key = ahead.pop()
            if key not in seen:
                seen.add(key)
                ahead.extend(self.below[key])
        return frozenset(seen)

    @cached_property
    def ways_up(self) -> Mapping[Key, int]:
        """A number for each processor, equal where it and everything above it do the same."""
        return self._ways(self.above, self.below)

    @cached_property
    def like(self) -> Mapping[int, tuple[Key, ...]]:
        """The processors of each number of `ways_up`."""
        found: dict[int, list[Key]] = {}
        for key, number in self.ways_up.items():
            found.setdefault(number, []).append(key)
        return {number: tuple(keys) for number, keys in found.items()}

    @cached_property
    def ways_down(self) -> Mapping[Key, int]:
        """A number for each processor, equal where everything below it does the same."""
        return self._ways(self.below, self.above)

    @cached_property
    def fed_by(self) -> Mapping[Key, tuple[Key, ...]]:
        """The operators and outside sources whose records each processor gets.

        Left out are the nodes of repartitions, and merges of what is merged again.
        """
        found: dict[Key, dict[Key, None]] = {k: {} for k in self.nodes}
        for key in self._order(self.above, self.below):
            for other in self.above[key]:
                found[key] |= found[other] if self._passes_on(other) else {other: None}
        return {k: tuple(names) for k, names in found.items()}

    @cached_property
    def steps(self) -> Mapping[Key, frozenset[int]]:
        """Numbers of what feeds each processor, equal where it and everything above it do."""
        own: dict[Key, int] = {}
        found: dict[Key, frozenset[int]] = {}
        for key in self._order(self.above, self.below):
            found[key] = frozenset(own.get(k, -1) for k in self.fed_by[key])
            own[key] = self.numbers.of((self.word(key), self.ends.get(key), found[key]))
        return found

    def _passes_on(self, key: Key) -> bool:
        """Say whether it is a node of a repartition, or a merge of what is merged again."""
        node = self.nodes[key]
        if node.kind != "processor":
            return node.kind == "sink" or bool(self.above[key])
        following = [self.nodes[k] for k in self.below[key]]
        if node.operator == "merge":
            return {n.operator for n in following} == {"merge"}
        return key[1].endswith("-repartition-filter") or (
            # Without topology optimization, the filter of null keys gets the number after the sink.
            node.operator == "filter"
            and node.number is not None
            and [n.number for n in following] == [node.number - 1]
            and all(n.kind == "sink" for n in following)
        )

    @cached_property
    def inputs(self) -> Mapping[Key, frozenset[str]]:
        """The outside topics and patterns that reach each processor, also through own topics."""
        return self._through_own(self._reaching(self.above, self.below, "source"), "sink")

    @cached_property
    def outputs(self) -> Mapping[Key, frozenset[str]]:
        """The outside topics that each processor reaches, also through own topics."""
        return self._through_own(self._reaching(self.below, self.above, "sink"), "source")

    @cached_property
    def own_topics(self) -> frozenset[str]:
        """Outside topics that the application both writes and reads."""
        sides = {kind: self._ends_of(kind) for kind in ("source", "sink")}
        return frozenset(sides["source"].keys() & sides["sink"].keys())

    @cached_property
    def ends(self) -> Mapping[Key, frozenset[str]]:
        """Outside topics of each source and sink; an extractor's class stands for its topics."""
        found: dict[Key, frozenset[str]] = {}
        by_name = {k[1]: k for k in self.nodes}
        for s in self.app.sources:
            if s.processor in by_name:
                found[by_name[s.processor]] = frozenset(s.topics or (f"/{s.pattern}/",))
        for t in self.app.sinks:
            if t.processor in by_name:
                found[by_name[t.processor]] = frozenset({t.topic or f"{t.extractor}()"})
        return found

    @cached_property
    def senses(self) -> Mapping[str, tuple[tuple[int, ...], frozenset[str]]]:
        """By repartition: what is made of its records, and which inputs they come from."""
        return {
            r.name: (
                tuple(sorted(self.ways_down[k] for k in self.all_named(r.sources))),
                frozenset[str]().union(*(self.inputs[k] for k in self.all_named(r.sinks))),
            )
            for r in self.app.repartitions
        }

    @cached_property
    def stores(self) -> Mapping[str, tuple[StreamsStore, ...]]:
        """The stores of each name: one for each named topology that has it."""
        found: dict[str, list[StreamsStore]] = {}
        for store in self.app.stores:
            found.setdefault(store.name, []).append(store)
        return {name: tuple(stores) for name, stores in found.items()}

    def word(self, key: Key) -> str:
        """What a processor does; with its own name if that isn't known."""
        operator = self.nodes[key].operator
        return f"{operator} {key[1]}" if operator in UNREAD else operator

    def users(self, store: StreamsStore) -> tuple[Key, ...]:
        """Return the processors that use a store, its writer first."""
        keys = [(store.topology or "", name) for name in store.processors]
        return tuple(sorted((k for k in keys if k in self.nodes), key=self._writes_first))

    def _writes_first(self, key: Key) -> tuple[int, int, str]:
        p = self.nodes[key]
        rank = 0 if p.operator in _WRITERS else 2 if p.operator in _READERS else 1
        return rank, p.number if p.number is not None else 1 << 40, key[1]

    def _order(
        self, inputs: Mapping[Key, tuple[Key, ...]], outputs: Mapping[Key, tuple[Key, ...]]
    ) -> Iterator[Key]:
        """Yield every processor after its inputs; what is on a cycle comes last."""
        waiting = {k: len(inputs[k]) for k in self.nodes}
        ready = deque(k for k, n in waiting.items() if not n)
        done: set[Key] = set()
        while ready:
            key = ready.popleft()
            done.add(key)
            yield key
            for other in outputs[key]:
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
        yield from (k for k in self.nodes if k not in done)

    def _ways(
        self, inputs: Mapping[Key, tuple[Key, ...]], outputs: Mapping[Key, tuple[Key, ...]]
    ) -> dict[Key, int]:
        found: dict[Key, int] = {}
        for key in self._order(inputs, outputs):
            behind = tuple(sorted(found.get(k, -1) for k in inputs[key]))
            thing = (self.word(key), self.ends.get(key, frozenset()), behind)
            found[key] = self.numbers.of(thing)
        return found

    def _ends_of(self, kind: str) -> dict[str, list[Key]]:
        """Return the sources or sinks of each outside topic."""
        found: dict[str, list[Key]] = {}
        for key, topics in self.ends.items():
            if self.nodes[key].kind == kind:
                for topic in topics:
                    found.setdefault(topic, []).append(key)
        return found

    def _through_own(
        self, reached: dict[Key, frozenset[str]], far: str
    ) -> Mapping[Key, frozenset[str]]:
        """Add what reaches own topics (`far` is "sink"), or what they reach ("source")."""
        beyond = {
            topic: frozenset[str]().union(*(reached[k] for k in keys))
            for topic, keys in self._ends_of(far).items()
            if topic in self.own_topics
        }
        if not beyond:
            return reached
        for _ in beyond:  # one own topic may feed the next
            beyond = {t: _widened(topics, beyond) for t, topics in beyond.items()}
        return {k: _widened(topics, beyond) for k, topics in reached.items()}

    def _reaching(
        self,
        inputs: Mapping[Key, tuple[Key, ...]],
        outputs: Mapping[Key, tuple[Key, ...]],
        kind: str,
    ) -> dict[Key, frozenset[str]]:
        found: dict[Key, frozenset[str]] = {}
        for key in self._order(inputs, outputs):
            own = self.ends.get(key, frozenset()) if self.nodes[key].kind == kind else frozenset()
            found[key] = own.union(*(found.get(k, frozenset()) for k in inputs[key]))
        return found


_WRITERS = frozenset(
    {
        "aggregate",
        "reduce",
        "cogroup_aggregate",
        "join_window",
        "table_source",
        "to_table",
        "suppress",
        "foreign_key_subscription",
        "table_table_join_merge",
        "materialize",
    }
)
"""Operators that write to their own store."""
_READERS = frozenset({"table_join", "table_left_join", "table_table_join"})
"""Joins, which only read the stores of other operators."""


def _key(p: StreamsProcessor) -> Key:
    return p.topology or "", p.name


def _widened(topics: frozenset[str], beyond: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return topics.union(*(beyond[t] for t in topics & beyond.keys()))
