"""What comes after the inputs of a Kafka Streams application, up to its next topics.

Kafka never moves a record. When a topic gets more partitions, a key's old records stay where they
are, and its new ones may come to another partition, which another task reads. After a repartition
topic that does no harm. Without one in between, a key's state would be split in two: counted on
Kafka Streams 4.3.1, one key of nine had 4 instead of 8 after its input went from 2 to 4 partitions,
without any error.

A repartition topic gets as many partitions as the widest topic that its writers read, unless the
code fixes its number (`Repartitioned.withNumberOfPartitions`). No description says which of both
applies, nor does the broker: for a streams group it returns the number that the topic has in either
case. With 3 fixed after an input that went from 2 to 4, Kafka Streams 4.3.1 continued with its
state, on both protocols.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from headgate.model.kafka_streams import (
    InternalKind,
    Repartition,
    StreamsApplication,
    StreamsProcessor,
    StreamsSource,
)
from headgate.text.java_patterns import java_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What records of some inputs come to before the next topic.

    `stores` has by input the stores that its records reach as they lie, sorted. `sized` says that
    internal topics take their number of partitions from one of the inputs. `unknown` are inputs
    that the description has no source of, or not what comes behind it.
    """

    stores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sized: bool = False
    unknown: tuple[str, ...] = ()


def reach(facts: StreamsApplication, topics: Iterable[str], fixed: Container[str] = ()) -> Reach:
    """Return what the records of these inputs come to.

    `fixed` are repartition topics whose number of partitions follows no input, as facts name them.
    """
    found: dict[str, tuple[str, ...]] = {}
    unknown, parts = [], set()
    for topic in sorted(topics):
        begins = [p for s in _sources(facts, topic) for p in _named(facts, s.processor)]
        if not begins:
            unknown.append(topic)
        parts |= {p.subtopology for p in begins}
        if stores := _stores(facts, _behind(facts, begins)):
            found[topic] = tuple(sorted(stores))
    return Reach(stores=found, sized=_sizes(facts, parts, fixed), unknown=tuple(unknown))


def own_numbers(facts: StreamsApplication, now: Mapping[str, int]) -> dict[str, int]:
    """Return repartition topics that have another number of partitions than their writers' inputs.

    `now` has the numbers by topic, inputs and internal ones, as the facts name them. A topic that
    is read together with another one is left out, because a join gives it that one's number. So is
    one that is written from topics whose number isn't known. Of several named topologies, whose
    sub-topologies have the same numbers, none is returned.
    """
    read = {} if len(facts.topologies) > 1 else _read(facts)
    found = {}
    for one in facts.repartitions:
        has, gives = now.get(one.topic), _given(one, read, now)
        beside = [read.get(part) != {one.topic} for part in one.reads_into]
        alone = one.kind is InternalKind.REPARTITION and beside and not any(beside)
        if alone and has and gives and has != gives:
            found[one.topic] = has
    return found


def _read(facts: StreamsApplication) -> dict[int, set[str]]:
    """Return by sub-topology what it reads; a pattern is among it as `/pattern/`."""
    found: dict[int, set[str]] = {}
    for source in facts.sources:
        if source.subtopology is not None and not source.is_global:
            topics = source.topics or (f"/{source.pattern}/",)
            found.setdefault(source.subtopology, set()).update(topics)
    for one in facts.repartitions:
        for part in one.reads_into:
            found.setdefault(part, set()).add(one.topic)
    return found


def _given(one: Repartition, read: Mapping[int, set[str]], now: Mapping[str, int]) -> int | None:
    """Return the largest number of what its writers read; None where one is not known."""
    numbers = [now.get(topic, 0) for part in one.writes_from for topic in read.get(part, ())]
    return max(numbers, default=0) if all(numbers) else None


def _sources(facts: StreamsApplication, topic: str) -> Iterator[StreamsSource]:
    for source in facts.sources:
        if not source.is_global and (topic in source.topics or _matches(source.pattern, topic)):
            yield source


def _named(facts: StreamsApplication, name: str) -> list[StreamsProcessor]:
    """Return the nodes of a name; of several named topologies there may be more than one."""
    return [p for p in facts.processors if p.name == name]


def _behind(
    facts: StreamsApplication, begins: Iterable[StreamsProcessor]
) -> list[StreamsProcessor]:
    """Return the nodes and all behind them; nothing follows a sink, so no topic is passed."""
    found: dict[str, list[StreamsProcessor]] = {}
    waiting = [p.name for p in begins]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _named(facts, name)
            waiting += [after for p in found[name] for after in p.successors]
    return [p for nodes in found.values() for p in nodes]


def _stores(facts: StreamsApplication, nodes: Iterable[StreamsProcessor]) -> set[str]:
    everywhere = {s.name for s in facts.stores if s.is_global}
    return {store for p in nodes for store in p.stores} - everywhere


def _sizes(facts: StreamsApplication, parts: set[int], fixed: Container[str]) -> bool:
    """Return whether a sub-topology has state, or writes to a repartition topic not `fixed`.

    Its tasks are as many as its widest input has partitions, and so are its changelogs.
    """
    inside = [p for p in facts.processors if p.subtopology in parts]
    loose = (r for r in facts.repartitions if r.topic not in fixed)
    writes = any(parts & set(r.writes_from) for r in loose)
    return writes or bool(_stores(facts, inside))


def _matches(pattern: str | None, topic: str) -> bool:
    if pattern is None:
        return False
    compiled = java_pattern(pattern)
    # With a pattern that only Java understands, it may well read the topic.
    return compiled is None or compiled.fullmatch(topic) is not None
