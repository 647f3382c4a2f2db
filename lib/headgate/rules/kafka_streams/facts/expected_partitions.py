"""How many partitions an application's internal topics get, as the group's leader computes it.

A repartition topic gets the number that the code set, else the largest number of what is read by
the sub-topologies that write it. Topics that are joined get one number. A changelog gets the
largest number of what its sub-topology reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headgate.model.kafka_streams import InternalKind, Repartition
from headgate.rules.kafka_streams.facts.flow import Flow, Key

KEY_CHANGING = frozenset({"map", "flat_map", "key_select", "transform", "flat_transform"})
"""Operators after which Kafka Streams repartitions before the next join or aggregation."""
_MAY_CHANGE = KEY_CHANGING | {"process", "processor", "unknown"}
_NOT_MERGED = ("none", "reuse.ktable.source.topics")
_JOINS = frozenset({"table_join", "table_left_join", "table_table_join", "stream_join_merge"})


@dataclass(frozen=True, slots=True)
class Counts:
    """Partitions by topic on the cluster, and tasks by sub-topology, as far as known.

    `unequal` are topics that are joined and differ: {topic: number}.
    """

    topics: Mapping[str, int] = field(default_factory=dict)
    tasks: Mapping[int, int] = field(default_factory=dict)
    unequal: tuple[Mapping[str, int], ...] = ()


def is_explicit(flow: Flow, repartition: Repartition) -> bool:
    """Say whether the code has a `repartition()` that the key does not need.

    `repartition()` of a key that nothing changed has only two uses: another partitioner, and a
    number of partitions of its own.
    """
    if repartition.kind is not InternalKind.REPARTITION:
        return False
    return not any(_key_changed(flow, k) for k in flow.all_named(repartition.sinks))


def may_set_count(flow: Flow, repartition: Repartition) -> bool:
    """Say whether it certainly comes from `repartition()`, which may set its own count.

    An unnamed one has that in its name. A named one is certain if a join and another operator read
    it: without optimisation, a join that needs one gets a repartition of its own. Aggregations of
    one grouping share its repartition, which looks like that of a `repartition()`.
    """
    if repartition.kind is not InternalKind.REPARTITION:
        return False
    if repartition.name.startswith("KSTREAM-REPARTITION-"):
        return True
    optimized = flow.app.config.get("topology.optimization", "none") not in _NOT_MERGED
    consumers = {below for s in flow.all_named(repartition.sources) for below in flow.below[s]}
    is_joined = any(flow.nodes[r].operator in _JOINS for r in consumers)
    return not optimized and len(consumers) > 1 and is_joined


def _key_changed(flow: Flow, sink: Key) -> bool:
    """Say whether an operator between the sink and what its sub-topology reads may change keys."""
    ahead, seen = list(flow.above[sink]), set[Key]()
    while ahead:
        key = ahead.pop()
        node = flow.nodes[key]
        if key in seen or node.kind == "source":
            continue
        seen.add(key)
        if node.operator in _MAY_CHANGE:
            return True
        ahead.extend(flow.above[key])
    return False


def counts(flow: Flow, inputs: Mapping[str, int], pinned: Mapping[str, int]) -> Counts:
    """Return the numbers for inputs with these partitions.

    `pinned` are repartition topics by their names on the cluster, with the number that the code
    sets. Topics whose number is unknown are left out.
    """
    work = _Counting(flow, inputs, pinned)
    work.repartitions()
    unequal = tuple(work.copartition())
    work.changelogs()
    return Counts(work.found, work.tasks(), unequal)


class _Counting:
    def __init__(self, flow: Flow, inputs: Mapping[str, int], pinned: Mapping[str, int]) -> None:
        self.flow = flow
        self.pinned = pinned
        self.found: dict[str, int] = {**inputs, **pinned}
        self.reads: dict[int, set[str]] = {}
        for s in flow.app.sources:
            self.reads.setdefault(s.subtopology or 0, set()).update(s.topics)
        for r in flow.app.repartitions:
            for number in r.reads_into:
                self.reads.setdefault(number, set()).add(r.topic)

    def repartitions(self) -> None:
        """Derive numbers until nothing new is found; one repartition may feed another."""
        missing = [r for r in self.flow.app.repartitions if r.topic not in self.found]
        while missing:
            known = len(self.found)
            for r in missing:
                if number := max((self._largest(s) for s in r.writes_from), default=0):
                    self.found[r.topic] = number
            missing = [r for r in missing if r.topic not in self.found]
            if len(self.found) == known:
                return

    def _largest(self, subtopology: int) -> int:
        """Return the largest number that is read there, 0 where one of them is not known."""
        read = self.reads.get(subtopology, set())
        if any(t not in self.found for t in read):
            return 0
        return max((self.found[t] for t in read), default=0)

    def copartition(self) -> Iterator[Mapping[str, int]]:
        """Give topics that are joined one number; yield those that can't have one."""
        internal = {r.topic for r in self.flow.app.repartitions}
        for group in joined_topics(self.flow):
            known = {t: self.found[t] for t in group if t in self.found}
            fixed = {t: n for t, n in known.items() if t not in internal or t in self.pinned}
            if len(set(fixed.values())) > 1:
                yield fixed
            elif number := max(fixed.values() or known.values(), default=0):
                self.found.update((t, number) for t in known if t not in fixed)

    def tasks(self) -> dict[int, int]:
        """Return tasks by sub-topology: as many as the largest number that is read there."""
        return {number: n for number in self.reads if (n := self._largest(number))}

    def changelogs(self) -> None:
        """A changelog has as many partitions as its sub-topology has tasks."""
        for store in self.flow.app.stores:
            number = self._largest(store.subtopology or 0)
            if store.changelog and number:
                self.found[store.changelog] = number


def joined_topics(flow: Flow) -> tuple[frozenset[str], ...]:
    """Return the groups of topics that must have one number of partitions.

    Both sides of a join, up to where each sub-topology reads; not global tables, not
    foreign-key joins, which repartition by themselves.
    """
    topics = {k: flow.ends.get(k, frozenset()) for k in flow.nodes}
    for r in flow.app.repartitions:
        topics.update((k, frozenset({r.topic})) for k in flow.all_named(r.sources))
    found: dict[frozenset[str], None] = {}
    for key, node in flow.nodes.items():
        if node.operator in _JOINS or node.operator == "cogroup_merge":
            group = frozenset[str]().union(*(_read_for(flow, k, topics) for k in _sides(flow, key)))
            if len(group) > 1:
                found[group] = None
    return tuple(found)


def _sides(flow: Flow, join: Key) -> Iterator[Key]:
    """Yield what is joined: the operators above, and the writers of the stores that it reads."""
    yield from flow.above[join]
    for name in flow.nodes[join].stores:
        for store in flow.stores.get(name, ()):
            if not store.is_global:
                yield flow.users(store)[0]


def _read_for(flow: Flow, start: Key, topics: Mapping[Key, frozenset[str]]) -> frozenset[str]:
    """Return the topics that the sub-topology reads for one side of a join."""
    ahead, seen, found = [start], set[Key](), set[str]()
    while ahead:
        key = ahead.pop()
        if key in seen:
            continue
        seen.add(key)
        if flow.nodes[key].kind == "source":
            found |= topics[key]
        else:
            ahead.extend(flow.above[key])
    return frozenset(found)
