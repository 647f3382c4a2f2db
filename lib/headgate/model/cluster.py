"""Kafka as seen now: topics, partitions, offsets, groups, members."""

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
    """One partition: `begin` is the log's start offset, `end` the next offset to be written."""

    number: int
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with its partitions; `retention_ms` is -1 for ever and None where unknown.

    `settings` are all that are in force, `own_settings` those set on the topic itself; they are
    kept for topics that look like internal ones of Kafka Streams. `bytes` is the size on disk of
    one replica, None where log directories were not read.
    """

    name: str
    id: str | None = None
    partitions: tuple[Partition, ...] = ()
    internal: bool = False
    retention_ms: int | None = None
    retention_bytes: int | None = None
    cleanup_policy: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    own_settings: dict[str, str] = field(default_factory=dict)
    bytes: int | None = None

    @property
    def records(self) -> int | None:
        """Offsets between begin and end: at most this many records (compaction leaves holes)."""
        known = [(p.begin, p.end) for p in self.partitions]
        if any(b is None or e is None for b, e in known):
            return None
        return sum(e - b for b, e in known if b is not None and e is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a group; a static one has an `instance_id`."""

    id: str
    client_id: str | None = None
    host: str | None = None
    instance_id: str | None = None
    assignment: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffset:
    """A committed offset; `offset` is None where the partition is assigned but not committed.

    `pending` says that a transaction has committed another one and is not at its end.
    """

    topic: str
    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of any type. `state` is the broker's word in lower case (`stable`, `empty`, ...).

    `members` is None where the client can't tell: never to be read as "none". `subtopologies` is
    the topology that the broker keeps of a streams group, None for any other type.
    """

    id: str
    type: GroupType = GroupType.UNKNOWN
    state: str = "unknown"
    members: tuple[Member, ...] | None = None
    offsets: tuple[GroupOffset, ...] = ()
    subtopologies: tuple[GroupSubtopology, ...] | None = None

    @property
    def is_inactive(self) -> bool:
        """True only where it is proven that nobody is in the group; `dead` proves nothing."""
        return self.members == () and self.state == "empty"

    @property
    def is_at_work(self) -> bool:
        """Whether members are there and have agreed on who does what."""
        return bool(self.members) and self.state == "stable"

    @property
    def pending(self) -> tuple[str, ...]:
        """The topics of which committed offsets wait for a transaction's end, sorted."""
        return tuple(sorted({o.topic for o in self.offsets if o.pending}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """The first `offset` of a partition whose record bears the time `at` (ISO 8601) or a later one.

    None where there is no such record.
    """

    topic: str
    partition: int
    at: str
    offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One snapshot; reading began `at` (ISO 8601 in UTC). `warnings` name what could not be read.

    `since` holds what was looked up by time, nothing in a usual snapshot. `broker_settings` are
    those of one broker that pipelines depend on; empty where they may not be read.
    `after_evidence`: reading began after the evidence was read that it is compared with.
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
        """Whether Kafka was read after offsets that were logged `at` (ISO 8601, None: unknown).

        Only then an offset beyond the end is one. Clocks differ, so a close call is False.
        """
        if self.after_evidence:
            return True
        then, read = _instant(at), _instant(self.at)
        return then is not None and read is not None and then + CLOCKS < read

    def lag(self, group: Group) -> dict[tuple[str, int], int | None]:
        """Return end minus committed offset per partition; None where either is unknown.

        Also None beyond the end: the end was read before the offset, so nobody knows what waits.
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
