"""The broker of a rehearsal: topics as they are on the user's cluster, records copied into them.

A state directory says up to which offset of its changelog each store was written, so a changelog's
records must lie at their own offsets here, too. Where compaction, transactions or retention left
holes, deletions of a key that nobody has fill them: 32 zero bytes, which a window store, too, takes
for a key of the year 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import NewTopic

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import alter_offsets, read_offsets
from headgate.gateway.kafka.errors import gather, kafka_error
from headgate.gateway.kafka.read_records import Record, read_records, write_records
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.kafka_broker.local_broker import NONE, start_broker
from headgate.gateway.process.supervise import Supervisor
from headgate.model.cluster import GroupOffset

MOST_FILLED = 1_000_000
_FILLER = bytes(32)
# Nothing is compacted or grows old in here: copied records are as old as the original ones.
_BROKER = {
    "log.cleaner.enable": "false",
    "log.initial.task.delay.ms": "86400000",
    "log.message.timestamp.before.max.ms": str(2**63 - 1),
    "log.message.timestamp.after.max.ms": str(2**63 - 1),
    "message.max.bytes": "100000000",
    "replica.fetch.max.bytes": "100000000",
    "group.min.session.timeout.ms": "1000",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A topic to be made: `config` as on the cluster, `records` in their partitions' order.

    `ends` are the latest offsets of a changelog's partitions; `committed` are the group's offsets.
    """

    name: str
    partitions: int
    role: str
    config: Mapping[str, str] = field(default_factory=dict)
    records: Sequence[Record] = ()
    ends: Mapping[int, int] | None = None
    committed: Mapping[int, GroupOffset] = field(default_factory=dict)


class RehearsalBroker:
    """A broker in `folder` that ends with the `with` block; `settings` are added to its own."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = NONE) -> None:
        self._folder, self._settings = folder, _BROKER | dict(settings)
        self._supervisor = Supervisor()

    def __enter__(self) -> RehearsalBroker:
        try:
            self.address = start_broker(self._supervisor, self._folder, settings=self._settings)
            self.kafka = Kafka(self.address, timeout=60.0)
            # Else made by the broker at the first question for a group, which may wait in vain.
            self._create([Wanted("__consumer_offsets", 4, "", {"cleanup.policy": "compact"})])
        except BaseException:
            self._supervisor.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kafka.close()
        # Nothing of it is kept, so it need not end in order.
        self._supervisor.kill()

    def fill(self, group: str, topics: Iterable[Wanted], given: Sequence[Record] = ()) -> None:
        """Make the topics, write their records and set where the group resumes.

        `given` records of these topics are written after them.
        """
        wanted = list(topics)
        self._create(wanted)
        for topic in wanted:
            if topic.ends is not None:
                write_records(self.address, with_holes(topic))
        self.write_input(wanted, given)
        targets: dict[TopicPart, Any] = {
            (t.name, n): (o.offset, None, o.metadata)
            for t in wanted
            for n, o in t.committed.items()
            if o.offset is not None
        }
        alter_offsets(self.kafka, group, targets)

    def write_input(self, topics: Sequence[Wanted], given: Sequence[Record] = ()) -> None:
        """Write the records of all topics that are not a changelog with offsets of its own."""
        for topic in topics:
            if topic.ends is None:
                write_records(self.address, topic.records)
        names = {t.name for t in topics}
        write_records(self.address, (r for r in given if r.topic in names))

    def committed(self, group: str) -> dict[TopicPart, int]:
        """Return the group's offsets now."""
        found = read_offsets(self.kafka, group)
        return {part: o.offset for part, o in found.items() if o.offset is not None}

    def ends(self, topics: Iterable[str]) -> dict[TopicPart, int]:
        """Return the end of each partition of those topics that exist."""
        known = self.kafka.partitions()
        parts = [(t, n) for t in topics for n in known.get(t, ())]
        return {part: end or 0 for part, (_, end) in self.kafka.begin_end(parts).items()}

    def records(
        self, topics: Iterable[str], begin: Mapping[TopicPart, int] | None = None
    ) -> list[Record]:
        """Return every record of those topics that exist, from `begin` on where it is given."""
        ends, begin = self.ends(topics), begin or {}
        ranges = {part: (begin.get(part, 0), end) for part, end in ends.items()}
        return read_records(self.address, {}, ranges)

    def _create(self, topics: Sequence[Wanted]) -> None:
        if not topics:
            return
        new = [
            NewTopic(t.name, t.partitions, replication_factor=1, config=dict(t.config))
            for t in topics
        ]
        deadline = self.kafka.deadline()
        try:
            futures = self.kafka.admin.create_topics(new, request_timeout=deadline.left)
        except KafkaException as error:
            raise StepError(
                "topics could not be created on the rehearsal's broker: "
                f"{kafka_error(error).str()}. Run the rehearsal again"
            ) from None
        _, failed = gather(futures, deadline)
        for name, why in failed.items():
            raise StepError(
                f"topic {name} could not be created on the rehearsal's broker: {why.str()}. "
                "Run the rehearsal again"
            )


def holes(topic: Wanted) -> int:
    """Return how many offsets of a changelog have no record."""
    return sum((topic.ends or {}).values()) - len(topic.records)


def with_holes(topic: Wanted) -> Iterator[Record]:
    """Yield a changelog's records with fillers, so that each is at its own offset."""
    at = dict.fromkeys(topic.ends or {}, 0)
    for record in topic.records:
        yield from _fillers(topic.name, record.partition, at[record.partition], record.offset)
        yield record
        at[record.partition] = record.offset + 1
    for partition, end in (topic.ends or {}).items():
        yield from _fillers(topic.name, partition, at[partition], end)


def _fillers(topic: str, partition: int, begin: int, end: int) -> Iterator[Record]:
    for offset in range(begin, end):
        yield Record(topic, partition, offset, _FILLER, None)


def live_keys(records: Iterable[Record]) -> dict[tuple[int, bytes], bytes]:
    """Return the newest value of each key of each partition that is not deleted."""
    found: dict[tuple[int, bytes], bytes] = {}
    for record in records:
        if record.key is None:
            continue
        if record.value is None:
            found.pop((record.partition, record.key), None)
        else:
            found[record.partition, record.key] = record.value
    return found


def without_directory(topic: Wanted) -> Wanted:
    """Return the changelog with its records closed up, where the holes are too many to fill."""
    return replace(topic, ends=None)
