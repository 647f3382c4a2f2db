"""What the broker keeps of a streams group's topology (KIP-1071), as the Java client has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.model.streams import GroupSubtopology, GroupTopic


def subtopologies(described: Any) -> tuple[GroupSubtopology, ...]:
    """Return the sub-topologies of a `StreamsGroupDescription`, sorted by id."""
    found = (_subtopology(s) for s in described.subtopologies().toArray())
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
    """Yield the topics by name; the broker says 0 partitions where it decides itself."""
    for name in sorted(by_name):
        info = by_name[name]
        configs = {str(k): str(v) for k, v in info.topicConfigs().items()}
        yield GroupTopic(name=name, partitions=info.partitions() or None, configs=configs)
