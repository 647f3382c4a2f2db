"""Which topics a consumer group or a Kafka Streams application reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from headgate.model.cluster import Group
from headgate.model.kafka_streams import looks_internal
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.kafka_streams_topology import Topology, topology
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


def described_topology(pipeline: Pipeline, version: Version | None, group: Group) -> Topology:
    """Return what a version and the broker know of an application; a consumer group has none."""
    if pipeline.engine is not Engine.KAFKA_STREAMS:
        return Topology()
    return topology({}, version, group.id, group)


def input_topics(
    inspector: Inspector, pipeline: Pipeline, version: Version | None, group: Group
) -> set[str]:
    """Return the input topics, internal topics apart.

    They are the registered ones, and of Kafka Streams those that the topology names, or that its
    patterns match now: a new topic has no offset yet. If nothing says it, they are those with
    committed offsets: Kafka keeps these for a while after a group has read a topic for the last
    time.
    """
    told = described_topology(pipeline, version, group)
    committed = _committed(group)
    found = set(pipeline.topics) | told.sources | {t for t in committed if told.reads(t)}
    if told.patterns:
        matched = {t for t in inspector.kafka.topic_names() if told.matches(t)}
        there = inspector.kafka.topics(matched) if matched else {}
        # Kafka's own topics match no subscription (`exclude.internal.topics`).
        found |= {name for name, topic in there.items() if not topic.internal}
    return {t for t in found or committed if not _is_own(t, pipeline)}


def other_topics(pipeline: Pipeline, group: Group, inputs: Collection[str]) -> list[str]:
    """Return the topics with committed offsets that aren't among the inputs of the group."""
    return sorted(t for t in _committed(group) - set(inputs) if not _is_own(t, pipeline))


def other_topic_blockers(
    pipeline: Pipeline, group: Group, inputs: Collection[str]
) -> Iterator[str]:
    """Refuse where members read a topic that isn't among the inputs."""
    taken = {topic for m in group.members or () for topic, _ in m.assignment}
    if found := [t for t in other_topics(pipeline, group, inputs) if t in taken]:
        yield (
            f"members of group {group.id} read {name_list(found)}, but {_said_by(pipeline)} these "
            f"topics. Add them to `topics` of {pipeline.name} in headgate.toml"
        )


_NOT_LISTED = "`topics` in headgate.toml doesn't list"
OTHER_TOPICS = Risk(
    "group {group} has committed offsets of {topics}, but {source} these topics. The run "
    "ignores these topics and their unread records. If {pipeline} reads them, add them to "
    "`topics` in headgate.toml",
    source=_NOT_LISTED,
)


def other_topic_risks(pipeline: Pipeline, group: Group, inputs: Collection[str]) -> Iterator[str]:
    """Name the topics whose committed offsets count as left over."""
    if found := other_topics(pipeline, group, inputs):
        yield OTHER_TOPICS(
            group=group.id,
            topics=name_list(found),
            source=_said_by(pipeline),
            pipeline=pipeline.name,
        )


def _said_by(pipeline: Pipeline) -> str:
    if pipeline.engine is not Engine.KAFKA_STREAMS:
        return _NOT_LISTED
    if not pipeline.topics:
        return "the topology doesn't have"
    return "neither the topology nor `topics` in headgate.toml has"


def _committed(group: Group) -> set[str]:
    return {o.topic for o in group.offsets if o.offset is not None}


def _is_own(topic: str, pipeline: Pipeline) -> bool:
    is_streams = pipeline.engine is Engine.KAFKA_STREAMS
    return is_streams and topic.startswith(f"{pipeline.group}-") and looks_internal(topic)
