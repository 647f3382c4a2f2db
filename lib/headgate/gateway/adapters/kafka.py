"""What plans and runs ask Kafka, and do to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from headgate.errors import SetupError, StepError
from headgate.gateway.kafka import (
    committed_offsets,
    java_group_changes,
    java_transactions,
)
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.cluster import Group, GroupOffset, GroupType, Topic
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.transactions import Transaction


class LiveKafkaInspector:
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


class LiveKafkaApplier(LiveKafkaInspector):
    """What steps change in Kafka."""

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members."""
        targets = {
            (o.topic, o.partition): (o.offset, o.leader_epoch, o.metadata)
            for o in offsets
            if o.offset is not None
        }
        committed_offsets.alter_offsets(self.kafka, group_id, targets)

    def delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Remove committed offsets of a group without members."""
        committed_offsets.delete_offsets(self.kafka, group_id, list(partitions))


class GroupInspector(LiveKafkaInspector):
    """Every group, every topic's name, every registered pipeline, open transactions."""

    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return every registered pipeline."""
        return self.registry.pipelines

    def topic_names(self) -> frozenset[str]:
        """Return the name of every topic that may be seen."""
        return frozenset(self.kafka.partitions())

    def groups(self) -> Mapping[str, Group]:
        """Return every group with its committed offsets; UnreachableError where one is hidden."""
        return {group.id: group for group in self.kafka.groups()}

    def open_transactions(self, parts: Iterable[TopicPart]) -> tuple[Transaction, ...]:
        """Return the open transactions of the cluster, and those only these partitions know."""
        return java_transactions.open_transactions(self._java("Seeing transactions"), parts)

    def _java(self, what: str) -> JavaAdmin:
        if self.kafka.java is None:
            raise SetupError(f"{what} needs Kafka's Java client: run `make setup`")
        return self.kafka.java


class GroupApplier(GroupInspector, LiveKafkaApplier):
    """Removing members, and the offsets of groups of the streams protocol."""

    def abort_transaction(self, transaction: Transaction) -> None:
        """Abort it and fence its producer."""
        java_transactions.abort_transaction(self._java("Aborting transactions"), transaction)

    def remove_members(self, group_id: str) -> None:
        """Remove every member of a classic group; one that is alive joins again."""
        java_group_changes.remove_members(self._java("Removing members"), group_id)

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members, by the call that fits its type."""
        wanted = list(offsets)
        if not self._is_streams(group_id):
            super().alter_offsets(group_id, wanted)
            return
        targets = {
            (o.topic, o.partition): (o.offset, o.leader_epoch, o.metadata)
            for o in wanted
            if o.offset is not None
        }
        java = self._java("A group of the streams protocol")
        _raise(group_id, "set", java_group_changes.alter_streams_offsets(java, group_id, targets))

    def delete_offsets(self, group_id: str, partitions: Iterable[TopicPart]) -> None:
        """Remove committed offsets of a group without members, by the call that fits its type."""
        wanted = list(partitions)
        if not self._is_streams(group_id):
            super().delete_offsets(group_id, wanted)
            return
        java = self._java("A group of the streams protocol")
        _raise(
            group_id, "deleted", java_group_changes.delete_streams_offsets(java, group_id, wanted)
        )

    def _is_streams(self, group_id: str) -> bool:
        return self.kafka.group_type(group_id) is GroupType.STREAMS


def _raise(group: str, verb: str, refused: Mapping[TopicPart, str]) -> None:
    if refused:
        why = "; ".join(f"{t}[{p}]: {text}" for (t, p), text in sorted(refused.items())[:5])
        raise StepError(f"Offsets of group {group} could not be {verb}: {why}")
