"""Read the Kafka topic that `headgate.watch` writes to; nothing is committed or joined."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headgate.errors import ConfigError, EvidenceError
from headgate.gateway.kafka_errors import kafka_error, translate
from headgate.parse.spark.event_log import MOST_REPORTS
from headgate.parse.spark.event_log_gather import Keep
from headgate.parse.spark.watch import Watched, WatchReader

TOPIC = "kafka:"
_SECONDS = 30.0
_FIRST_ANSWER = 9.0
_MOST_BYTES = 512 << 20
# A run tells anew each hour who it is, and each half minute that it lives.
TAIL_MS = 70 * 60 * 1000


def read_watch_topic(
    topic: str,
    bootstrap: str,
    config: Mapping[str, str],
    *,
    keep: Keep | None = None,
    since_ms: int | None = None,
    most: int = MOST_REPORTS,
) -> Watched:
    """Return what the topic holds now, or what came since a time (ms since 1970).

    EvidenceError where there is no such topic, UnreachableError where Kafka does not answer. What
    is not read within 30 s or 512 MiB is left out, and a warning says so.
    """
    name = f"{TOPIC}{topic}"
    reader = WatchReader(name, keep, most)
    consumer = _consumer(bootstrap, config)
    try:
        left = _assigned(consumer, topic, since_ms)
        reader.read(_values(consumer, left), name)
    except KafkaException as error:
        raise translate(kafka_error(error), bootstrap) from None
    finally:
        consumer.close()
    found = reader.result()
    return found


def _consumer(bootstrap: str, config: Mapping[str, str]) -> Any:
    settings = {
        **config,
        "bootstrap.servers": bootstrap,
        # Kafka asks for a group's name; none is joined.
        "group.id": "headgate-watch-reader",
        "enable.auto.commit": False,
        "enable.partition.eof": False,
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    try:
        return Consumer(settings)
    except KafkaException as error:
        raise ConfigError(f"[kafka.config]: {kafka_error(error).str()}") from None


def _assigned(consumer: Any, topic: str, since_ms: int | None) -> dict[int, int]:
    """Assign every partition; return the end of each one that has something to read."""
    metadata = consumer.list_topics(topic, timeout=_FIRST_ANSWER).topics[topic]
    if metadata.error is not None:
        raise EvidenceError(f"{TOPIC}{topic}: {metadata.error.str()}")
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for number in metadata.partitions:
        low, high = consumer.get_watermark_offsets(
            TopicPartition(topic, number), timeout=_FIRST_ANSWER
        )
        if high > low:
            begins[number], ends[number] = low, high
    if since_ms is not None and begins:
        times = [TopicPartition(topic, n, since_ms) for n in begins]
        for found in consumer.offsets_for_times(times, timeout=_FIRST_ANSWER):
            # Nothing that new: -1, the end.
            begins[found.partition] = found.offset if found.offset >= 0 else ends[found.partition]
    ends = {n: end for n, end in ends.items() if begins[n] < end}
    consumer.assign([TopicPartition(topic, n, begins[n]) for n in ends])
    return ends


def _values(consumer: Any, ends: dict[int, int]) -> Iterator[bytes]:
    deadline, size, left = time.monotonic() + _SECONDS, 0, dict(ends)
    while left and time.monotonic() < deadline and size < _MOST_BYTES:
        for message in consumer.consume(500, timeout=1.0):
            if message.error():
                raise KafkaException(message.error())
            value = message.value() or b""
            size += len(value)
            if value:
                yield value + b"\n"
            if message.offset() + 1 >= left.get(message.partition(), 0):
                left.pop(message.partition(), None)
    if left:
        yield b"cut: not everything was read in time\n"
