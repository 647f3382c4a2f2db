"""The topics between pipelines: Kafka's own and those that only a topology names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headgate.landscape import consumer_lag
from headgate.landscape.consumer_groups import GroupConsumer, group_node_id
from headgate.landscape.internal_topic_owner import Ownership
from headgate.landscape.landscape import (
    LandscapeKind,
    LandscapeNode,
    LandscapePipeline,
    LandscapeTopic,
    PartitionLag,
)
from headgate.landscape.pipelines import Part
from headgate.model.cluster import Cluster, Topic

NOT_IN_KAFKA = "not in Kafka"


@dataclass(slots=True)
class Traffic:
    """Writers and consumers of one topic, in the order found, with each consumer's lag."""

    writers: dict[str, None] = field(default_factory=dict)
    readers: dict[str, int | None] = field(default_factory=dict)


def topic_id(name: str) -> str:
    """Return the node id of a topic."""
    return f"topic:{name}"


def topics_between(
    parts: Iterable[Part],
    readers: Iterable[GroupConsumer],
    cluster: Cluster | None,
    owners: Mapping[str, Ownership],
) -> tuple[LandscapeTopic, ...]:
    """Return all topics, sorted; Kafka's internal ones only where somebody uses them."""
    pipelines = [part.pipeline for part in parts]
    traffic = _traffic(pipelines, readers)
    known = cluster.topics if cluster else {}
    shown = {name for name, topic in known.items() if not topic.internal} | traffic.keys()
    return tuple(
        _topic(name, known.get(name), cluster, traffic.get(name, Traffic()), owners.get(name))
        for name in sorted(shown)
    )


def topic_node(topic: LandscapeTopic) -> LandscapeNode:
    """Return the box of a topic."""
    return LandscapeNode(
        id=topic.id,
        kind=LandscapeKind.TOPIC,
        operator="topic",
        label=topic.name,
        note=NOT_IN_KAFKA if topic.exists is False else None,
    )


def _traffic(
    pipelines: Iterable[LandscapePipeline], readers: Iterable[GroupConsumer]
) -> dict[str, Traffic]:
    traffic: dict[str, Traffic] = {}
    for p in pipelines:
        for topic in p.writes:
            traffic.setdefault(topic, Traffic()).writers.setdefault(p.name)
        _read(traffic, p.name, p.reads, p.positions)
    for r in readers:
        _read(traffic, group_node_id(r.group.id), r.topics, r.group.positions)
    return traffic


def _read(
    traffic: dict[str, Traffic],
    reader: str,
    topics: Iterable[str],
    positions: Iterable[PartitionLag],
) -> None:
    behind = consumer_lag.by_topic(positions)
    for topic in topics:
        traffic.setdefault(topic, Traffic()).readers[reader] = behind.get(topic)


def _topic(
    name: str,
    known: Topic | None,
    cluster: Cluster | None,
    traffic: Traffic,
    ownership: Ownership | None,
) -> LandscapeTopic:
    return LandscapeTopic(
        id=topic_id(name),
        name=name,
        exists=None if cluster is None else known is not None,
        partitions=len(known.partitions) if known else None,
        records=known.records if known else None,
        retention_ms=known.retention_ms if known else None,
        retention_bytes=known.retention_bytes if known else None,
        cleanup_policy=known.cleanup_policy if known else None,
        internal=known.internal if known else False,
        owner=ownership.owner if ownership else None,
        proof=ownership.proof if ownership else None,
        candidates=ownership.candidates if ownership else (),
        bytes=known.bytes if known else None,
        writers=tuple(traffic.writers),
        readers=tuple(traffic.readers),
        lags=tuple(traffic.readers.items()),
    )
