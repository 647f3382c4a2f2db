"""Which topics a consumer group or a Kafka Streams application reads."""

from __future__ import annotations

from headgate.model.cluster import Group
from headgate.model.kafka_streams import looks_internal
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.kafka_streams_topology import Topology, topology


def described_topology(pipeline: Pipeline, version: Version | None, group: Group) -> Topology:
    """Return what a version and the broker know of an application; a consumer group has none."""
    if pipeline.engine is not Engine.KAFKA_STREAMS:
        return Topology()
    return topology({}, version, group.id, group)


def input_topics(
    inspector: Inspector, pipeline: Pipeline, version: Version | None, group: Group
) -> set[str]:
    """Return the input topics, internal topics apart.

    They are those with offsets, the registered ones, and of Kafka Streams those that the topology
    names, or that its patterns match now: a new topic has no offset yet.
    """
    told = described_topology(pipeline, version, group)
    committed = {o.topic for o in group.offsets if o.offset is not None}
    found = committed | set(pipeline.topics) | told.sources
    if told.patterns:
        matched = {t for t in inspector.kafka.topic_names() if told.matches(t)}
        there = inspector.kafka.topics(matched) if matched else {}
        # Kafka's own topics match no subscription (`exclude.internal.topics`).
        found |= {name for name, topic in there.items() if not topic.internal}
    return {t for t in found if not _is_own(t, pipeline)}


def _is_own(topic: str, pipeline: Pipeline) -> bool:
    is_streams = pipeline.engine is Engine.KAFKA_STREAMS
    return is_streams and topic.startswith(f"{pipeline.group}-") and looks_internal(topic)
