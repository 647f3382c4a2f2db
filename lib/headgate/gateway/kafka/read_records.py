"""Read the records of partitions without joining a group, and write them somewhere else."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from headgate.errors import ConfigError, RefusedError, StepError, UnreachableError
from headgate.gateway.kafka.errors import kafka_error, translate
from headgate.gateway.kafka.topics import TopicPart

_READER = "headgate-rehearsal-reader"
_SILENT_S = 30.0
_AT_ONCE = 500
# Of ours alone: the name of a group is asked for, and none is joined.
_READ_ONLY = {
    "group.id": _READER,
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
    "isolation.level": "read_committed",
    # Where only markers are left, the broker tells of the end after so long, and not half a second.
    "fetch.wait.max.ms": 20,
    # A record may be as large as its topic allows.
    "receive.message.max.bytes": 2_000_000_000,
    "log_level": 0,
}


@dataclass(frozen=True, slots=True)
class Record:
    """One record in its partition; `timestamp` is ms since 1970, None where it has none."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")


def read_records(
    bootstrap: str,
    config: Mapping[str, str],
    ranges: Mapping[TopicPart, tuple[int, int]],
    *,
    most_bytes: int = 1 << 29,
    step: str = "Limit the unread input records with --max-records, or rehearse without the "
    "cluster (--offline)",
) -> list[Record]:
    """Return all records from (inclusive) to (exclusive) of each partition, in its order.

    No group is joined and nothing committed. RefusedError where they are more than `most_bytes`,
    with `step` as its advice, UnreachableError where nothing came for 30 s.
    """
    found: list[Record] = []
    size = 0
    with closing(each_record(bootstrap, config, ranges)) as records:
        for record in records:
            found.append(record)
            size += record.size
            if size > most_bytes:
                raise RefusedError(
                    f"the records to copy exceed {most_bytes >> 20} MiB, the most that a rehearsal "
                    f"keeps in memory. {step}"
                )
    return found


def first_records(
    bootstrap: str, config: Mapping[str, str], ranges: Mapping[TopicPart, tuple[int, int]]
) -> dict[TopicPart, int]:
    """Return the offset of the first committed record in each range that has one."""
    found: dict[TopicPart, int] = {}
    for part, bounds in ranges.items():
        with closing(each_record(bootstrap, config, {part: bounds})) as records:
            first = next(records, None)
        if first is not None:
            found[part] = first.offset
    return found


def each_record(
    bootstrap: str,
    config: Mapping[str, str],
    ranges: Mapping[TopicPart, tuple[int, int]],
    *,
    only_committed: bool = True,
) -> Generator[Record]:
    """Yield all records from (inclusive) to (exclusive) of each partition, in its order.

    No group is joined and nothing committed; records of aborted transactions are left out, unless
    `only_committed` is false.
    UnreachableError where nothing came for 30 s.
    """
    left = {part: end for part, (begin, end) in ranges.items() if begin < end}
    if not left:
        return
    consumer = _consumer(bootstrap, config, only_committed=only_committed)
    try:
        consumer.assign([TopicPartition(*part, ranges[part][0]) for part in left])
        yield from _polled(consumer, bootstrap, left)
    finally:
        consumer.close()


def _polled(consumer: Any, bootstrap: str, left: dict[TopicPart, int]) -> Iterator[Record]:
    """Yield records below each partition's end, until all `left` have come to it."""
    heard = time.monotonic()
    while left:
        messages = arrived(consumer)
        if messages:
            heard = time.monotonic()
        elif time.monotonic() - heard > _SILENT_S:
            raise UnreachableError(
                f"Kafka at {bootstrap} sent no records for {_SILENT_S:.0f} s. Check that each "
                "partition has a leader, then try again"
            )
        for message in messages:
            part = (message.topic(), message.partition())
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                # Behind the last record there may be only transactions' markers.
                left.pop(part, None)
            elif error is not None:
                raise translate(error, bootstrap)
            elif part in left:
                if message.offset() < left[part]:
                    yield _record(message)
                if message.offset() >= left[part] - 1:
                    left.pop(part)


def arrived(consumer: Any, seconds: float = 1.0) -> list[Any]:
    """Wait for a first message, and return it with those that have come with it.

    If many were requested, the client would wait the whole time for the last of them.
    """
    first = consumer.poll(seconds)
    return [] if first is None else [first, *consumer.consume(_AT_ONCE, timeout=0)]


def _record(message: Any) -> Record:
    kind, at = message.timestamp()
    return Record(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        key=message.key(),
        value=message.value(),
        timestamp=None if kind == TIMESTAMP_NOT_AVAILABLE else at,
        headers=tuple(message.headers() or ()),
    )


def _consumer(bootstrap: str, config: Mapping[str, str], *, only_committed: bool = True) -> Any:
    level = {} if only_committed else {"isolation.level": "read_uncommitted"}
    try:
        return Consumer({**config, **_READ_ONLY, **level, "bootstrap.servers": bootstrap})
    except KafkaException as error:
        raise ConfigError(
            f"Kafka's client rejects a setting in [kafka.config]: {kafka_error(error).str()}"
        ) from None


def write_records(bootstrap: str, records: Iterable[Record]) -> int:
    """Write records to their own partitions, in their order; return how many.

    StepError where the broker did not take one.
    """
    failed: list[str] = []

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(error.str())

    settings = {
        "enable.idempotence": True,
        "message.max.bytes": 100_000_000,
        # As Java's producer does where a record names no partition.
        "partitioner": "murmur2_random",
        "log_level": 0,
    }
    producer = Producer({**settings, "bootstrap.servers": bootstrap, "linger.ms": 5})
    count = 0
    for record in records:
        _produce(producer, record, delivered)
        count += 1
    left = producer.flush(120)
    if failed or left:
        raise StepError(
            "records could not be copied to the rehearsal's broker: "
            f"{failed[0] if failed else 'the broker did not acknowledge all records'}. Run the "
            "rehearsal again"
        )
    return count


def _produce(producer: Any, record: Record, delivered: Any) -> None:
    at = {} if record.timestamp is None else {"timestamp": record.timestamp}
    while True:
        try:
            producer.produce(
                record.topic, key=record.key, value=record.value, partition=record.partition,
                headers=list(record.headers), on_delivery=delivered, **at,
            )  # fmt: skip
        except BufferError:
            producer.poll(0.5)
            continue
        producer.poll(0)
        return
