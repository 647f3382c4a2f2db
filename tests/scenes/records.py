"""Records as they come: late ones, duplicates, out of order, and more while one looks."""

from __future__ import annotations

import json
import random
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from support.waiting import PATIENCE

MINUTE = 60_000
Part = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """A record as the log holds it; `timestamp` is Unix milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def make_topic(bootstrap: str, name: str, partitions: int, **config: str) -> None:
    """Create a topic and wait for it."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
    admin.create_topics([new])[name].result()


def write_history(bootstrap: str, topic: str, partitions: int, *, count: int = 60) -> None:
    """Write a minute's record for each of the last `count`: every fifth late, every sixth twice.

    Within a partition offsets and timestamps are not in the same order, as with real producers.
    """
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    chance = random.Random(topic)
    first = int(time.time() // 60 - count) * MINUTE
    for n in range(count):
        late = chance.randint(2, 9) * MINUTE if n % 5 == 4 else 0
        for _ in range(2 if n % 6 == 5 else 1):
            producer.produce(
                topic,
                key=f"city-{n % 7}",
                value=json.dumps({"id": n, "amount": n % 11}),
                partition=n % partitions,
                timestamp=first + n * MINUTE - late,
            )
    assert producer.flush(30) == 0


class Writer:
    """A producer that goes on writing from a thread of its own, until it is closed."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, *, each: float = 0.4) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic, self._partitions, self._each = topic, partitions, each
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        number = 0
        while not self._end.wait(self._each):
            value = json.dumps({"id": f"live-{uuid.uuid4().hex[:8]}", "amount": number % 11})
            self._producer.produce(
                self._topic,
                key=f"city-{number % 7}",
                value=value,
                partition=number % self._partitions,
            )
            self._producer.poll(0)
            number += 1

    def close(self) -> None:
        """Write no more; what was written has arrived."""
        self._end.set()
        self._thread.join(PATIENCE)
        self._producer.flush(30)


def read_all(bootstrap: str, topics: Iterable[str]) -> dict[Part, list[Seen]]:
    """Return every record that the topics hold now, by partition: the truth to compare with."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"truth-{uuid.uuid4().hex[:8]}",
            "enable.auto.commit": False,
            "enable.partition.eof": False,
        }
    )
    try:
        ends = dict(_ends(consumer, topics))
        found: dict[Part, list[Seen]] = {part: [] for part in ends}
        consumer.assign([TopicPartition(t, p, OFFSET_BEGINNING) for t, p in ends])
        deadline = time.monotonic() + PATIENCE
        while not all(_is_read(found[part], *ends[part]) for part in ends):
            assert time.monotonic() < deadline, f"the topics {topics} could not be read in time"
            for m in consumer.consume(500, 0.5):
                if m.error() is None:
                    seen = Seen(
                        m.topic(), m.partition(), m.offset(), m.timestamp()[1], m.key(), m.value()
                    )
                    found[seen.topic, seen.partition].append(seen)
        return found
    finally:
        consumer.close()


def _ends(consumer: Consumer, topics: Iterable[str]) -> Iterable[tuple[Part, tuple[int, int]]]:
    for topic in topics:
        for number in consumer.list_topics(topic, timeout=30).topics[topic].partitions:
            part = TopicPartition(topic, number)
            yield (topic, number), consumer.get_watermark_offsets(part, timeout=30)


def _is_read(found: list[Seen], begin: int, end: int) -> bool:
    return begin >= end or bool(found and found[-1].offset >= end - 1)


def backup_copies(bootstrap: str, value: bytes) -> list[Seen]:
    """Return the copies of a record in backup topics, whichever run made them."""
    names = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).topics
    found = read_all(bootstrap, [name for name in names if name.startswith("headgate-backup-")])
    return [r for records in found.values() for r in records if r.value == value]
