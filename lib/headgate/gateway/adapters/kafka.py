"""What plans and runs ask Kafka, and do to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from headgate.errors import HeadgateError, SetupError, StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka import (
    committed_offsets,
    java_group_changes,
    java_transactions,
    topic_changes,
)
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.connect import open_kafka
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.process.jars import install_step
from headgate.model.cluster import Group, GroupOffset, GroupType, Topic
from headgate.model.output_comparison import OutputComparison
from headgate.model.transactions import Transaction
from headgate.reprocess.ports.kafka import TopicShape, TopicWindow


class KafkaAdapter:
    """The registry's cluster; it is asked only for what concerns it.

    A query over files needs no broker, so the first question connects.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context

    @cached_property
    def cluster(self) -> Kafka:
        """The registry's cluster."""
        return open_kafka(self._context.registry)

    def close(self) -> None:
        """Let go of the connections."""
        if "cluster" in self.__dict__:
            self.cluster.close()

    def has_cluster(self) -> bool:
        """Return whether the registry names a Kafka cluster."""
        return bool(self._context.registry.bootstrap_servers)

    def cluster_id(self) -> str:
        """Return the Kafka cluster's id."""
        return self.cluster.cluster_id()

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Return those of the topics that exist, with begin and end offsets."""
        wanted = list(names)
        return self.cluster.topics(wanted) if wanted else {}

    def identities(self, names: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        """Return id and number of partitions of those of the topics that exist."""
        wanted = list(names)
        return self.cluster.identities(wanted) if wanted else {}

    def first_at(self, parts: Iterable[TopicPart], at: int) -> Mapping[TopicPart, int | None]:
        """Return each partition's first offset at or after a time (Unix milliseconds)."""
        return self.cluster.offsets_for_times(dict.fromkeys(parts, at))

    def first_records(self, ranges: Mapping[TopicPart, tuple[int, int]]) -> Mapping[TopicPart, int]:
        """Return the offset of the first record in each range; see the port."""
        # Imported here: hardly a run reads records.
        from headgate.gateway.kafka.read_records import first_records

        registry = self._context.registry
        return first_records(str(registry.bootstrap_servers), registry.kafka, ranges)

    def compare_records(
        self,
        a: TopicWindow,
        b: TopicWindow,
        *,
        keys: Sequence[str],
        tolerance: float = 0.0,
        ignore: Sequence[str] = (),
        newest: bool = False,
    ) -> OutputComparison:
        """Look for each record of one topic in the other topic; see the port."""
        from headgate.gateway.kafka.compare_records import RowMatch, compare_records

        registry = self._context.registry
        match = RowMatch(tuple(keys), tolerance, frozenset(ignore), newest)
        found = compare_records(str(registry.bootstrap_servers), registry.kafka, a, b, match)
        self._context.keep("comparison", found.counts)
        return found

    def group(self, group_id: str) -> Group:
        """Return a group with its committed offsets."""
        return self.cluster.describe_group(group_id)

    def topic_names(self) -> frozenset[str]:
        """Return the name of every topic that may be seen."""
        return frozenset(self.cluster.partitions())

    def groups(self) -> Mapping[str, Group]:
        """Return every group with its committed offsets; UnreachableError where one is hidden."""
        return {group.id: group for group in self.cluster.groups()}

    def open_transactions(self, parts: Iterable[TopicPart]) -> tuple[Transaction, ...]:
        """Return the open transactions of the cluster, and those only these partitions know."""
        return java_transactions.open_transactions(self._java("Listing transactions"), parts)

    def shapes(self, names: Iterable[str]) -> Mapping[str, TopicShape]:
        """Return the shapes of those of the topics that exist."""
        wanted = list(names)
        return topic_changes.read_shapes(self.cluster, wanted) if wanted else {}

    def topic_consumers(self, names: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
        """Return by topic the groups that have members on it (True) or offsets of it (False)."""
        found: dict[str, dict[str, bool]] = {name: {} for name in names}
        for group in self.cluster.groups() if found else ():
            for topic in {o.topic for o in group.offsets} & found.keys():
                found[topic][group.id] = False
            for topic in {t for m in group.members or () for t, _ in m.assignment} & found.keys():
                found[topic][group.id] = True
        return found

    def topics_in_transaction(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the topics on which a transaction is open."""
        topics = self.topics(names)
        return topic_changes.topics_in_transaction(self.cluster, topics) if topics else ()

    def unraisable(self, wanted: Mapping[str, int]) -> Mapping[str, str]:
        """Return by topic why the broker would not give it so many partitions."""
        return topic_changes.unraisable(self.cluster, wanted)

    def uncreatable(self, shapes: Iterable[TopicShape]) -> Mapping[str, str]:
        """Return by topic why the broker would not create it."""
        return topic_changes.uncreatable(self.cluster, shapes)

    def topic_bytes(self, names: Iterable[str]) -> Mapping[str, int | None]:
        """Return each topic's size on disk (one replica), None if it is unknown."""
        wanted = list(names)
        if not wanted:
            return {}
        try:
            sizes = self.cluster.java.log_sizes() if self.cluster.java else None
        except HeadgateError:
            sizes = None
        if sizes is None:
            return dict.fromkeys(wanted)
        return {n: sum(size for (t, _), size in sizes.items() if t == n) for n in wanted}

    def read_quota(self) -> float | None:
        """Return how many bytes/s this login may read from all brokers, None: no known limit."""
        user = self._context.registry.kafka.get("sasl.username", "ANONYMOUS")
        try:
            return self.cluster.java.read_quota(user) if self.cluster.java else None
        except HeadgateError:
            return None

    def abort_transaction(self, transaction: Transaction) -> None:
        """Abort it and fence its producer."""
        java_transactions.abort_transaction(self._java("Aborting transactions"), transaction)

    def remove_members(self, group_id: str) -> None:
        """Remove every member of a classic group; one that is alive joins again."""
        java_group_changes.remove_members(self._java("Removing members"), group_id)

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members, by the call that fits its type."""
        targets = {
            (o.topic, o.partition): (o.offset, o.leader_epoch, o.metadata)
            for o in offsets
            if o.offset is not None
        }
        if not self._is_streams(group_id):
            committed_offsets.alter_offsets(self.cluster, group_id, targets)
            return
        java = self._java("Setting offsets of a streams group")
        _raise(group_id, "set", java_group_changes.alter_streams_offsets(java, group_id, targets))

    def delete_offsets(self, group_id: str, partitions: Iterable[TopicPart]) -> None:
        """Remove committed offsets of a group without members, by the call that fits its type."""
        wanted = list(partitions)
        if not self._is_streams(group_id):
            committed_offsets.delete_offsets(self.cluster, group_id, wanted)
            return
        java = self._java("Deleting offsets of a streams group")
        _raise(
            group_id, "deleted", java_group_changes.delete_streams_offsets(java, group_id, wanted)
        )

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, with its offsets; fine if it is gone."""
        committed_offsets.delete_group(self.cluster, group_id)

    def create_topic(self, shape: TopicShape) -> None:
        """Make a topic of this shape."""
        topic_changes.create_topic(self.cluster, shape)

    def delete_topic(self, shape: TopicShape) -> None:
        """Delete the topic that has this id, and wait until it is gone."""
        topic_changes.delete_topic(self.cluster, shape.name, shape.id)

    def add_partitions(self, name: str, to: int) -> None:
        """Give the topic so many partitions in all, and wait until each has a leader."""
        topic_changes.add_partitions(self.cluster, name, to)

    def configure_topic(self, name: str, configs: Mapping[str, str]) -> None:
        """Give the topic these settings of its own, and no others."""
        shape = self.shapes([name])[name]
        gone: dict[str, str | None] = dict.fromkeys(shape.configs.keys() - configs.keys())
        changed = {k: v for k, v in configs.items() if shape.configs.get(k) != v}
        topic_changes.alter_configs(self.cluster, name, {**gone, **changed})
        topic_changes.wait_for_configs(self.cluster, name, configs)

    def delete_records(self, before: Mapping[tuple[str, int], int]) -> None:
        """Delete the records before an offset of each partition."""
        topic_changes.delete_records(self.cluster, before)

    def _is_streams(self, group_id: str) -> bool:
        return self.cluster.group_type(group_id) is GroupType.STREAMS

    def _java(self, what: str) -> JavaAdmin:
        if self.cluster.java is None:
            raise SetupError(f"{what} needs the jars of Kafka's Java client: {install_step()}")
        return self.cluster.java


def _raise(group: str, verb: str, refused: Mapping[TopicPart, str]) -> None:
    if refused:
        why = "; ".join(f"{t}[{p}]: {text}" for (t, p), text in sorted(refused.items())[:5])
        raise StepError(f"Offsets of group {group} could not be {verb}: {why}")
