"""Generated load: records with unique ids, written to Kafka and noted in the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from support.waiting import until
from trial.ledger import Entry, Ledger

# A whole minute, the same for every trial: 2026-01-01T00:00:00Z in ms.
BASE = 1_767_225_600_000


class Record(NamedTuple):
    """One record to write: `at` in seconds after BASE."""

    id: str
    key: str
    at: float
    partition: int = 0


class Load:
    """Writes records to one broker and notes each in the ledger once the broker has it."""

    def __init__(self, broker: str, ledger: Ledger) -> None:
        self.ledger, self.admin = ledger, AdminClient({"bootstrap.servers": broker})
        self._producer = Producer({"bootstrap.servers": broker, "linger.ms": 5})

    def make(self, topic: str, partitions: int = 1) -> None:
        """Create a topic and wait until the broker reports it."""
        # Event times are long ago: retention would delete the records before they are read.
        new = NewTopic(topic, partitions, 1, config={"retention.ms": "-1"})
        self.admin.create_topics([new])[topic].result()
        until(lambda: topic in self.admin.list_topics(timeout=10).topics)

    def write(self, topic: str, records: Iterable[Record]) -> int:
        """Write records; returns how many. Each is in the ledger when this returns."""
        count = 0
        for record in records:
            at = BASE + int(record.at * 1000)
            value = json.dumps({"id": record.id, "key": record.key, "at": at})
            self._producer.produce(
                topic,
                key=record.key,
                value=value,
                partition=record.partition,
                timestamp=at,
                on_delivery=self._noted(record, at),
            )
            count += 1
        assert self._producer.flush(30) == 0, f"{topic}: the broker didn't take all records"
        return count

    def _noted(self, record: Record, at: int) -> Any:
        def delivered(error: Any, message: Message) -> None:
            assert error is None, error
            place = (message.topic(), message.partition(), message.offset())
            self.ledger.add(Entry(record.id, *place, at, record.key))

        return delivered
