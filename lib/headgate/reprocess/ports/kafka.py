"""Groups, topics and transactions of a Kafka cluster, as plans see and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headgate.model.cluster import Group, GroupOffset, Topic
from headgate.model.output_comparison import OutputComparison
from headgate.model.transactions import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicShape:
    """What a topic is recreated from: `configs` are those set on the topic itself."""

    name: str
    id: str
    partitions: int
    replication: int
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicWindow:
    """Two ranges of a topic's offsets (from, to) by partition: `outer` holds all of `inner`."""

    topic: str
    inner: Mapping[tuple[str, int], tuple[int, int]]
    outer: Mapping[tuple[str, int], tuple[int, int]]


class KafkaInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def has_cluster(self) -> bool:
        """Return whether a Kafka cluster is configured at all."""

    def cluster_id(self) -> str:
        """Return the Kafka cluster's id."""

    def topics(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """Return those of the topics that exist, with begin and end offsets."""

    def identities(self, names: Iterable[str]) -> Mapping[str, tuple[str, int]]:
        """Return id and number of partitions of those of the topics that exist, and no more.

        UnreachableError where one that exists can't be described. Much cheaper than `topics`,
        which asks each partition for its offsets.
        """

    def first_at(
        self, parts: Iterable[tuple[str, int]], at: int
    ) -> Mapping[tuple[str, int], int | None]:
        """Return each partition's first offset at or after a time (Unix milliseconds).

        None where there is no such record.
        """

    def first_records(
        self, ranges: Mapping[tuple[str, int], tuple[int, int]]
    ) -> Mapping[tuple[str, int], int]:
        """Return the offset of the first record from (inclusive) to (exclusive) of each partition.

        Markers and records of aborted transactions are none; a partition without one is left out.
        """

    def shapes(self, names: Iterable[str]) -> Mapping[str, TopicShape]:
        """Return the shapes of those of the topics that exist; RefusedError where one is hidden."""

    def topic_consumers(self, names: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
        """Return by topic the groups that have members on it (True) or offsets of it (False)."""

    def topics_in_transaction(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the topics on which a transaction is open: its records can't be read."""

    def topic_bytes(self, names: Iterable[str]) -> Mapping[str, int | None]:
        """Return each topic's size on disk (one replica), None if it isn't known."""

    def read_quota(self) -> float | None:
        """Return how many bytes/s this login may read from all brokers, None: no known limit."""

    def group(self, group_id: str) -> Group:
        """Return a group with its committed offsets; one that can't be seen is not inactive."""

    def groups(self) -> Mapping[str, Group]:
        """Return every group with its committed offsets; UnreachableError where one is hidden."""

    def topic_names(self) -> frozenset[str]:
        """Return the name of every topic that may be seen."""

    def open_transactions(self, parts: Iterable[tuple[str, int]]) -> tuple[Transaction, ...]:
        """Return the open transactions of the cluster, and those only these partitions know."""

    def unraisable(self, wanted: Mapping[str, int]) -> Mapping[str, str]:
        """Return by topic why the broker would not give it so many partitions; it tries nothing.

        A topic that it would give them is left out.
        """

    def uncreatable(self, shapes: Iterable[TopicShape]) -> Mapping[str, str]:
        """Return by topic why the broker would not create it; it tries nothing.

        A topic that it would create, or that exists, is left out.
        """


class KafkaApplier(KafkaInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

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
        """Look for each record of one topic's inner range in the other topic's outer range.

        Records are paired by `keys`: fields of JSON values, or `key`, the record's key.
        With `newest`, a key is equal, too, if one topic's newest record of it is in the other one.
        RefusedError where a record lacks one, or an inner range holds too many records.
        """

    def alter_offsets(self, group_id: str, offsets: Iterable[GroupOffset]) -> None:
        """Commit offsets for a group without members."""

    def abort_transaction(self, transaction: Transaction) -> None:
        """Abort it and fence its producer; what it wrote is never read as committed."""

    def remove_members(self, group_id: str) -> None:
        """Remove every member of a classic group; one that is alive joins again."""

    def delete_offsets(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Remove committed offsets of a group without members."""

    def delete_group(self, group_id: str) -> None:
        """Delete a group without members, with its offsets; fine if it is gone."""

    def create_topic(self, shape: TopicShape) -> None:
        """Make a topic of this shape (its id is Kafka's own choice); it must not exist."""

    def delete_topic(self, shape: TopicShape) -> None:
        """Delete the topic that has this id, and wait until it is gone; fine if it is.

        RefusedError where another topic has the name now.
        """

    def configure_topic(self, name: str, configs: Mapping[str, str]) -> None:
        """Give the topic these settings of its own, and no others."""

    def delete_records(self, before: Mapping[tuple[str, int], int]) -> None:
        """Delete the records before an offset of each partition."""

    def add_partitions(self, name: str, to: int) -> None:
        """Give the topic so many partitions in all, each with a leader; fine if it has."""
