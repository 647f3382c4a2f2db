"""Which topics of a description are the application's own: repartitions and subscriptions.

A description names them without the application id. A topic is internal if both of its ends
are in this topology and one of them is named as Kafka Streams names it; a user's own topic that
the application writes and reads isn't internal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headgate.model.kafka_streams import InternalKind, internal_kind
from headgate.parse.kafka_streams.description import DescribedNode, Description, Key
from headgate.parse.kafka_streams.generated_names import generated


@dataclass(frozen=True, slots=True)
class Joint:
    """An internal topic with the sinks that write it and the sources that read it."""

    topology: str | None
    topic: str
    kind: InternalKind
    sinks: tuple[DescribedNode, ...]
    sources: tuple[DescribedNode, ...]


def joints(description: Description) -> tuple[Joint, ...]:
    """Return the internal topics in the order in which they are first written."""
    sinks: dict[Key, list[DescribedNode]] = {}
    sources: dict[Key, list[DescribedNode]] = {}
    for node in description.nodes:
        if node.kind == "sink" and node.topic:
            sinks.setdefault((node.topology, node.topic), []).append(node)
        elif node.kind == "source" and len(node.topics) == 1 and not node.is_global:
            sources.setdefault((node.topology, node.topics[0]), []).append(node)
    before = _before(description)
    found = (_joint(key, written, sources.get(key, []), before) for key, written in sinks.items())
    return tuple(joint for joint in found if joint is not None)


def _before(description: Description) -> dict[Key, list[DescribedNode]]:
    by_key = {n.key: n for n in description.nodes}
    out: dict[Key, list[DescribedNode]] = {}
    for source, target in description.edges:
        out.setdefault(target, []).append(by_key[source])
    return out


def _joint(
    key: Key,
    sinks: Iterable[DescribedNode],
    sources: Iterable[DescribedNode],
    before: Mapping[Key, list[DescribedNode]],
) -> Joint | None:
    topology, topic = key
    kind = internal_kind(topic)
    if kind in (None, InternalKind.CHANGELOG):
        return None
    written, read = tuple(sinks), tuple(sources)
    if not _is_ours(topic, kind, written, read, before):
        return None
    return Joint(topology, topic, kind, written, read)


def _is_ours(
    topic: str,
    kind: InternalKind,
    sinks: tuple[DescribedNode, ...],
    sources: tuple[DescribedNode, ...],
    before: Mapping[Key, list[DescribedNode]],
) -> bool:
    base = topic.removesuffix("-topic" if kind is not InternalKind.REPARTITION else "-repartition")
    if generated(base) is not None:
        return True
    if not sources:
        return any(s.name in (f"{topic}-sink", f"{base}-sink") for s in sinks)
    ends = {n.name for n in (*sinks, *sources)}
    if ends & {f"{topic}-sink", f"{topic}-source", f"{base}-sink", f"{base}-source"}:
        return True
    feeding = {n.name for s in sinks for n in before.get(s.key, ())}
    words = {g.word for g in map(generated, feeding) if g}
    return bool(feeding & {f"{base}-repartition-filter", base}) or bool(
        words & {"KSTREAM-FILTER", "KTABLE-SELECT"}
    )
