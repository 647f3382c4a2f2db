"""What plans and runs ask of topics as things to be made, and do to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headgate.gateway import kafka_topic_changes as changes
from headgate.gateway.world_kafka import KafkaWorld
from headgate.plan.world import TopicShape


class TopicWorld(KafkaWorld):
    """Shapes of topics, and who reads them."""

    def shapes(self, names: Iterable[str]) -> Mapping[str, TopicShape]:
        """Return the shapes of those of the topics that exist."""
        return changes.read_shapes(self.kafka, names)

    def topic_readers(self, names: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
        """Return by topic the groups that have members on it (True) or offsets of it (False)."""
        found: dict[str, dict[str, bool]] = {name: {} for name in names}
        for group in self.kafka.groups():
            for topic in {o.topic for o in group.offsets} & found.keys():
                found[topic][group.id] = False
            for topic in {t for m in group.members or () for t, _ in m.assignment} & found.keys():
                found[topic][group.id] = True
        return found


class TopicEffects(TopicWorld):
    """What steps change in topics."""

    def create_topic(self, shape: TopicShape) -> None:
        """Make a topic of this shape."""
        changes.create_topic(self.kafka, shape)

    def delete_topic(self, shape: TopicShape) -> None:
        """Delete the topic that has this id, and wait until it is gone."""
        changes.delete_topic(self.kafka, shape.name, shape.id)
