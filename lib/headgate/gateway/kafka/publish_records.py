"""Copy staged records to an existing topic: each exactly once, also if a run is killed.

A transaction writes records and commits the offsets of a group on the staged topic: what the group
has committed was written, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from headgate.errors import StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import read_offsets
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.gateway.kafka.redrive_records import (
    Failed,
    produce_record,
    transaction,
    transactional,
)
from headgate.gateway.kafka.write_records import name_of
from headgate.reprocess.ports.dead_letters import Ledger

_RECORDS, _BYTES = 1_000, 16 << 20
_SECONDS = 60.0


def publish_records(
    kafka: Kafka,
    staged: str,
    to: str,
    group: str,
    *,
    pause: Callable[[float], None],
    watch: Callable[[int], None],
) -> None:
    """Copy the records of `staged` that the group has not committed to the same partitions.

    The group must have an offset of each partition. `pause` is called between transactions only,
    and may raise.
    """
    # Ends what a killed try left open, so that the group's offsets are those of what was written.
    producer = transactional(kafka, Ledger(topic=staged, transactional_id=group))
    settings = {**kafka.config, "bootstrap.servers": kafka.bootstrap, "group.id": group}
    consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 0})
    try:
        _Publisher(producer, consumer.consumer_group_metadata(), to).copy(
            kafka, staged, group, pause, watch
        )
    finally:
        consumer.close()


class _Publisher:
    def __init__(self, producer: Any, member: Any, to: str) -> None:
        self._producer, self._member, self._to = producer, member, to
        self._batch: list[Record] = []
        self._size = 0

    def copy(
        self,
        kafka: Kafka,
        staged: str,
        group: str,
        pause: Callable[[float], None],
        watch: Callable[[int], None],
    ) -> None:
        """Copy what is left, a transaction at a time."""
        at = {p: o.offset for p, o in read_offsets(kafka, group).items() if p[0] == staged}
        parts = kafka.begin_end([(staged, p) for p in kafka.partitions()[staged]])
        ranges = {}
        for part, (_, end) in parts.items():
            begin = at.get(part)
            if begin is None or end is None:
                raise StepError(
                    f"Kafka did not report the committed offset of group {group} or the latest "
                    f"offset for {staged}[{part[1]}]. Check the brokers, then resume the run"
                )
            ranges[part] = (begin, end)
        with closing(each_record(kafka.bootstrap, kafka.config, ranges)) as records:
            for record in records:
                self._batch.append(record)
                self._size += record.size
                if len(self._batch) >= _RECORDS or self._size >= _BYTES:
                    watch(self._commit())
                    pause(0)
        watch(self._commit())

    def _commit(self) -> int:
        """Write the batch and commit its offsets in one transaction; return how many it has."""
        if not self._batch:
            return 0
        failed: list[Failed] = []
        ends = {(r.topic, r.partition): r.offset + 1 for r in self._batch}
        with transaction(self._producer, failed):
            for record in self._batch:
                produce_record(self._producer, self._published(record), failed)
            offsets = [TopicPartition(*part, end) for part, end in ends.items()]
            self._producer.send_offsets_to_transaction(offsets, self._member, _SECONDS)
        count = len(self._batch)
        self._batch, self._size = [], 0
        return count

    def _published(self, record: Record) -> dict[str, Any]:
        return {
            "topic": self._to,
            "partition": record.partition,
            "key": record.key,
            "value": record.value,
            "headers": list(record.headers),
            "name": name_of(record),
        }
