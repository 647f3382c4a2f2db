"""What plans and runs ask Kafka, and do to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from headgate.gateway.kafka import committed_offsets as kafka_offsets
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.cluster import Group, GroupOffset, Topic
from headgate.model.registered_pipelines import Registry


class KafkaWorld:
    """The registry's cluster; it is asked only for what concerns it.

    A query over files needs no broker, so the first question connects.
    """

    registry: Registry

    @cached_property
    def kafka(self) -> Kafka:
        """The registry's cluster."""
        return open_kafka(self.registry)

    def close(self) -> None:
        """Let go of the connections."""
        if "kafka" in self.__dict__:
            self.kafka.close()

    def has_cluster(self) -> bool:
        """Return whether the registry names a Kafka cluster."""
        return bool(self.registry.bootstrap_servers)

    def cluster_id(self) -> str:
        """Return the Kafka cluster's id."""
        return self.kafka.cluster_id()

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Return those of the topics that exist, with begin and end offsets."""
        wanted = list(names)
        return self.kafka.topics(wanted) if wanted else {}

    def identities(self, names: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        """Return id and number of partitions of those of the topics that exist."""
        wanted = list(names)
        return self.kafka.identities(wanted) if wanted else {}

    def first_at(self, parts: Iterable[TopicPart], at: int) -> Mapping[TopicPart, int | None]:
        """Return each partition's first offset at or after a time (Unix milliseconds)."""
        return self.kafka.offsets_for_times(dict.fromkeys(parts, at))

    def group(self, group_id: str) -> Group:
        """Return a group with its committed offsets."""
        return self.kafka.describe_group(group_id)


class KafkaEffects(KafkaWorld):
    """What steps change in Kafka."""

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members."""
        targets = {
            (o.topic, o.partition): (o.offset, o.leader_epoch, o.metadata)
            for o in offsets
            if o.offset is not None
        }
        kafka_offsets.alter_offsets(self.kafka, group_id, targets)

    def delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Remove committed offsets of a group without members."""
        kafka_offsets.delete_offsets(self.kafka, group_id, list(partitions))
