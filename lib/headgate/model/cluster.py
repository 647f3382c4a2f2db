"""A snapshot of Kafka: topics, partitions, offsets, groups, members."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from headgate.model.kafka_streams import GroupSubtopology

CLOCKS = timedelta(seconds=30)
"""Maximum difference between the clocks of producers, brokers, Spark and Headgate."""


class GroupType(StrEnum):
    """Types of Kafka groups (KIP-1043)."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition: `begin` is the earliest offset, `end` the latest (of the next record)."""

    number: int
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with its partitions. `retention_ms` is -1 for no limit, None if unknown.

    `timestamp_type` is its `message.timestamp.type`: with `LogAppendTime`, the broker sets each
    record's timestamp to the time of writing.

    `settings` are all settings in force, `own_settings` those that are set on the topic itself.
    Both are stored only for topics that look like internal topics of Kafka Streams. `bytes` is the
    size on disk of one replica, None if the log directories weren't read.
    """

    name: str
    id: str | None = None
    partitions: tuple[Partition, ...] = ()
    internal: bool = False
    retention_ms: int | None = None
    retention_bytes: int | None = None
    cleanup_policy: str | None = None
    timestamp_type: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    own_settings: dict[str, str] = field(default_factory=dict)
    bytes: int | None = None

    @property
    def records(self) -> int | None:
        """Maximum number of records: latest minus earliest offset, summed over the partitions.

        Compaction and transaction markers leave offsets without a record.
        """
        known = [(p.begin, p.end) for p in self.partitions]
        if any(b is None or e is None for b, e in known):
            return None
        return sum(e - b for b, e in known if b is not None and e is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a group. A static member has an `instance_id`."""

    id: str
    client_id: str | None = None
    host: str | None = None
    instance_id: str | None = None
    assignment: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffset:
    """A committed offset; `offset` is None if the partition is assigned without a commit.

    `pending`: an open transaction has written another offset for this partition.
    """

    topic: str
    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of any type. `state` is Kafka's name in lower case (`stable`, `empty`, ...).

    `members` is None if the client can't list them: this doesn't mean that there are none.
    `subtopologies` is the topology that the broker stores for a streams group, None for other
    types.
    """

    id: str
    type: GroupType = GroupType.UNKNOWN
    state: str = "unknown"
    members: tuple[Member, ...] | None = None
    offsets: tuple[GroupOffset, ...] = ()
    subtopologies: tuple[GroupSubtopology, ...] | None = None

    @property
    def is_inactive(self) -> bool:
        """True only if the group verifiably has no members; the state `dead` isn't enough."""
        return self.members == () and self.state == "empty"

    @property
    def is_at_work(self) -> bool:
        """Whether the group has members, and its assignment is complete."""
        return bool(self.members) and self.state == "stable"

    @property
    def pending(self) -> tuple[str, ...]:
        """The topics with committed offsets in an open transaction, sorted."""
        return tuple(sorted({o.topic for o in self.offsets if o.pending}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """The offset of the first record of a partition at or after the time `at` (ISO 8601).

    `offset` is None if there is no such record.
    """

    topic: str
    partition: int
    at: str
    offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One snapshot. Reading began at `at` (ISO 8601 in UTC). `warnings` name what couldn't be read.

    `since` has the offsets that were looked up by time; usually it is empty. `broker_settings` are
    the settings of one broker that pipelines depend on; empty without permission to read them.
    `after_evidence`: reading began after the evidence to compare with had been read.
    """

    id: str
    at: str
    bootstrap: str
    topics: dict[str, Topic] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    broker_settings: dict[str, str] = field(default_factory=dict)
    since: tuple[Since, ...] = ()
    after_evidence: bool = False

    def is_newer_than(self, at: str | None) -> bool:
        """Whether Kafka was read after offsets that were logged at `at` (ISO 8601, None: unknown).

        Only then does an offset after the latest offset mean that a topic was truncated or
        recreated. Clocks differ, so the result is False if both times are close.
        """
        if self.after_evidence:
            return True
        then, read = _instant(at), _instant(self.at)
        return then is not None and read is not None and then + CLOCKS < read

    def lag(self, group: Group) -> dict[tuple[str, int], int | None]:
        """Return the latest minus the committed offset by partition; None if either is unknown.

        Also None if the committed offset is after the latest offset: the latest offset was read
        earlier, so the lag is unknown.
        """
        out: dict[tuple[str, int], int | None] = {}
        for o in group.offsets:
            topic = self.topics.get(o.topic)
            end = (
                next((p.end for p in topic.partitions if p.number == o.partition), None)
                if topic
                else None
            )
            known = o.offset is not None and end is not None and o.offset <= end
            out[o.topic, o.partition] = end - o.offset if known else None  # type: ignore[operator]
        return out


def _instant(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
