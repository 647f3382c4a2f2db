"""Which topics a version reads and writes, and at which of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.model.topology import Node, NodeKind
from headgate.model.version import Engine, Sink, Source, Version
from headgate.text.java_patterns import java_pattern

Match = Callable[[str, Engine], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Join:
    """One topic at one node; `node` is None where the topology has no node for it."""

    topic: str
    node: str | None


def matcher(topics: Iterable[str]) -> Match:
    """Return the look-up of a source's pattern among `topics`.

    Spark reads each topic in whose name it finds its `subscribePattern` (`findFirstIn` in its
    ConsumerStrategy), Kafka's own clients those whose whole name matches. A pattern that only Java
    understands matches nothing.
    """
    names = tuple(topics)

    def match(pattern: str, engine: Engine) -> tuple[str, ...]:
        compiled = java_pattern(pattern)
        if compiled is None:
            return ()
        matches = compiled.search if engine is Engine.SPARK else compiled.fullmatch
        return tuple(n for n in names if matches(n))

    return match


def reads(version: Version, match: Match) -> tuple[Join, ...]:
    """Return what is read: by the sources' facts, then by other source nodes' `topics`.

    A static relation is a node, but isn't a source: it has no entry in the offset log.
    """
    found = [j for source in version.sources or () for j in _source_joins(version, source, match)]
    named = {j.node for j in found}
    nodes = (n for n in version.topology.nodes if n.kind is NodeKind.SOURCE)
    found += [Join(topic, n.id) for n in nodes if n.id not in named for topic in _topics_of(n)]
    return tuple(dict.fromkeys(found))


def writes(version: Version) -> tuple[Join, ...]:
    """Return what is written: by the sink nodes' details, and by the sink's facts."""
    sinks = [n for n in version.topology.nodes if n.kind is NodeKind.SINK]
    found = [Join(topic, n.id) for n in sinks for topic in _targets_of(n, version.engine)]
    sink = version.sink
    if sink is not None and _is_kafka(sink.format, version.engine) and sink.target:
        named = {j.topic for j in found}
        found += [Join(sink.target, _sink_node(sink, sinks))] if sink.target not in named else []
    return tuple(dict.fromkeys(found))


def writes_anywhere(version: Version) -> bool:
    """Whether each record names its topic: a Kafka sink without a topic of its own."""
    if version.streams is not None:
        return any(s.extractor is not None for s in version.streams.sinks)
    sink = version.sink
    return sink is not None and sink.format == "kafka" and not sink.target


def kafka_offsets(source: Source) -> Mapping[str, Mapping[int, int]]:
    """Return {topic: {partition: next offset}} of a Kafka source, empty for any other shape."""
    if source.format not in (None, "kafka") or not isinstance(source.offsets, dict):
        return {}
    return {
        topic: {int(p): o for p, o in parts.items() if isinstance(o, int) and o >= 0}
        for topic, parts in source.offsets.items()
        if isinstance(parts, dict) and all(str(p).isdecimal() for p in parts)
    }


def _source_joins(version: Version, source: Source, match: Match) -> Iterator[Join]:
    matched = match(source.pattern, version.engine) if source.pattern else ()
    node = _source_node(version, source)
    for topic in dict.fromkeys((*source.topics, *kafka_offsets(source), *matched)):
        yield Join(topic, node)


def _source_node(version: Version, source: Source) -> str | None:
    """The node that the source names, else the one that names a topic of it, else by position."""
    nodes = [n for n in version.topology.nodes if n.kind is NodeKind.SOURCE]
    if any(n.id == source.node for n in nodes):
        return source.node
    for n in nodes:
        if set(_topics_of(n)) & set(source.topics):
            return n.id
    return nodes[source.position].id if source.position < len(nodes) else None


def _sink_node(sink: Sink, nodes: list[Node]) -> str | None:
    if any(n.id == sink.node for n in nodes):
        return sink.node
    return nodes[0].id if nodes else None


def _topics_of(node: Node) -> tuple[str, ...]:
    return _names(node.details.get("topics"))


def _targets_of(node: Node, engine: Engine) -> tuple[str, ...]:
    if not _is_kafka(node.details.get("format"), engine):
        return ()
    return _names(node.details.get("topics")) or _names(node.details.get("target"))


def _is_kafka(form: Any, engine: Engine) -> bool:
    return form == "kafka" or (form is None and engine is Engine.KAFKA_STREAMS)


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else ()
