"""Streams groups (KIP-1071) as Kafka's Java client reports them: members, offsets, topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.gateway.kafka.topics import TopicPart
from headgate.model.cluster import Group, GroupOffset, GroupType, Member
from headgate.model.kafka_streams import GroupSubtopology, GroupTopic


def streams_group(group_id: str, described: Any, offsets: Any) -> Group:
    """Return the group of a `StreamsGroupDescription`; `offsets` maps partitions to commits."""
    topics = {
        s.subtopologyId(): [*s.sourceTopics(), *s.repartitionSourceTopics().keys()]
        for s in each(described.subtopologies())
    }
    return Group(
        id=group_id,
        type=GroupType.STREAMS,
        state=word(described.groupState()),
        members=tuple(
            Member(
                id=m.memberId(),
                client_id=m.clientId(),
                host=m.clientHost(),
                instance_id=m.instanceId().orElse(None),
                assignment=tuple(sorted(_tasks(m.assignment().activeTasks(), topics))),
            )
            for m in each(described.members())
        ),
        offsets=tuple(sorted(_offsets(offsets or {}), key=lambda o: (o.topic, o.partition))),
        subtopologies=_subtopologies(described),
    )


def _tasks(tasks: Any, topics: Mapping[str, list[str]]) -> Iterator[TopicPart]:
    """A task of partition p reads partition p of each input of its sub-topology."""
    for task in tasks:
        for topic in topics.get(task.subtopologyId(), ()):
            for partition in task.partitions():
                yield topic, partition


def _offsets(offsets: Any) -> Iterator[GroupOffset]:
    """Yield what is committed; a partition without a commit has none here."""
    for tp, commit in offsets.items():
        if commit is not None:
            yield GroupOffset(
                topic=tp.topic(),
                partition=tp.partition(),
                offset=commit.offset(),
                leader_epoch=commit.leaderEpoch().orElse(None),
                metadata=commit.metadata() or None,
            )


def _subtopologies(described: Any) -> tuple[GroupSubtopology, ...]:
    found = (_subtopology(s) for s in each(described.subtopologies()))
    return tuple(sorted(found, key=lambda s: (len(s.id), s.id)))


def _subtopology(described: Any) -> GroupSubtopology:
    return GroupSubtopology(
        id=str(described.subtopologyId()),
        sources=tuple(sorted(described.sourceTopics())),
        repartition_sinks=tuple(sorted(described.repartitionSinkTopics())),
        repartition_sources=tuple(_topics(described.repartitionSourceTopics())),
        changelogs=tuple(_topics(described.stateChangelogTopics())),
    )


def _topics(by_name: Any) -> Iterator[GroupTopic]:
    """Yield the topics by name; the broker says 0 partitions where it has not decided yet."""
    for name in sorted(by_name):
        info = by_name[name]
        configs = {str(k): str(v) for k, v in info.topicConfigs().items()}
        yield GroupTopic(name=name, partitions=info.partitions() or None, configs=configs)


def each(collection: Any) -> Any:
    """Return what can be iterated: py4j does so for lists and sets, not for every collection."""
    return collection.toArray()


def word(state: Any) -> str:
    """Write `NotReady` as `not_ready`."""
    text = str(state.toString())
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in text).lstrip("_")
