"""Read the Kafka topic that `headgate.watch` writes to; nothing is committed or joined."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headgate.errors import ConfigError, EvidenceError
from headgate.gateway.kafka.cluster import FIRST_ANSWERS
from headgate.gateway.kafka.errors import SILENT, is_final, kafka_error, translate
from headgate.gateway.kafka.read_records import arrived
from headgate.parse.spark.event_log.gather import Keep
from headgate.parse.spark.event_log.read import MOST_REPORTS
from headgate.parse.spark.watch.read import Watched, WatchReader
from headgate.text.numbers import plural

TOPIC = "kafka:"
_SECONDS = 30.0
_FIRST_ANSWER = 9.0
_MOST_BYTES = 512 << 20


class WatchTopic:
    """What a topic's records say so far; each `read` continues where the last one ended.

    `since_ms` (ms since 1970) leaves out what is older. `keep` says of which queries every report
    is kept, the newest `most` of a run.
    """

    def __init__(
        self,
        topic: str,
        bootstrap: str,
        config: Mapping[str, str],
        *,
        keep: Keep | None = None,
        since_ms: int | None = None,
        most: int = MOST_REPORTS,
    ) -> None:
        self._topic, self._bootstrap, self._config = topic, bootstrap, dict(config)
        self._name = f"{TOPIC}{topic}"
        self._reader = WatchReader(self._name, keep, most)
        self._since_ms = since_ms
        self._next: dict[int, int] = {}

    def read(self) -> Watched:
        """Return what the topic holds now.

        EvidenceError where there is no such topic, UnreachableError where Kafka does not answer.
        What is not read within 30 s or 512 MiB is left out, and a warning says so.
        """
        self._hint: Any = None
        consumer = _consumer(self._bootstrap, self._config, self._remember)
        try:
            ends = self._assign(consumer)
            self._reader.read(self._values(consumer, ends), self._name)
        except KafkaException as error:
            raise translate(kafka_error(error), self._bootstrap) from None
        finally:
            consumer.close()
        found = self._reader.result()
        left = sum(end - self._next.get(n, 0) for n, end in ends.items() if self._next[n] < end)
        if not left:
            return found
        said = (
            f"{self._name}: Headgate did not read the newest {plural(left, 'record')}, because it "
            f"stops reading a topic after {_SECONDS:.0f} s or {_MOST_BYTES >> 20} MiB"
        )
        return replace(found, log=replace(found.log, warnings=(*found.log.warnings, said)))

    def _assign(self, consumer: Any) -> dict[int, int]:
        """Assign what has something new; return the end of each such partition."""
        metadata = self._metadata(consumer)
        if metadata.error is not None:
            raise EvidenceError(
                f"{self._name}: {metadata.error.str()}. Check `watch` in headgate.toml and the "
                "topic's ACLs"
            )
        bounds = {n: self._bounds(consumer, n) for n in metadata.partitions}
        new = [n for n in bounds if n not in self._next]
        begins = self._begins(consumer, {n: bounds[n] for n in new})
        for number, (low, _) in bounds.items():
            self._next[number] = max(self._next.get(number, begins.get(number, low)), low)
        ends = {n: high for n, (_, high) in bounds.items() if self._next[n] < high}
        consumer.assign([TopicPartition(self._topic, n, self._next[n]) for n in ends])
        return ends

    def _metadata(self, consumer: Any) -> Any:
        """Return the topic's metadata; a refused connection is reported after the first try."""
        for seconds in FIRST_ANSWERS:
            try:
                return consumer.list_topics(self._topic, timeout=seconds).topics[self._topic]
            except KafkaException as error:
                consumer.poll(0)
                failure = kafka_error(error)
            if failure.code() not in SILENT or is_final(self._hint):
                break
        raise translate(failure, self._bootstrap, self._hint)

    def _remember(self, error: Any) -> None:
        """Keep what a connection says of its failure: the call itself only says `timed out`."""
        if error.code() != error._ALL_BROKERS_DOWN:
            self._hint = error

    def _bounds(self, consumer: Any, number: int) -> tuple[int, int]:
        part = TopicPartition(self._topic, number)
        low, high = consumer.get_watermark_offsets(part, timeout=_FIRST_ANSWER)
        return low, high

    def _begins(self, consumer: Any, bounds: Mapping[int, tuple[int, int]]) -> dict[int, int]:
        """Return where to begin in partitions that were not read yet."""
        if self._since_ms is None or not bounds:
            return {n: low for n, (low, _) in bounds.items()}
        times = [TopicPartition(self._topic, n, self._since_ms) for n in bounds]
        found = consumer.offsets_for_times(times, timeout=_FIRST_ANSWER)
        # Nothing that new: -1, so the end.
        return {p.partition: p.offset if p.offset >= 0 else bounds[p.partition][1] for p in found}

    def _values(self, consumer: Any, ends: Mapping[int, int]) -> Iterator[bytes]:
        deadline, size = time.monotonic() + _SECONDS, 0
        while any(self._next[n] < end for n, end in ends.items()):
            if time.monotonic() > deadline or size > _MOST_BYTES:
                return
            for message in arrived(consumer):
                if message.error():
                    raise KafkaException(message.error())
                self._next[message.partition()] = message.offset() + 1
                value = message.value() or b""
                size += len(value)
                if value:
                    yield value + b"\n"


def _consumer(bootstrap: str, config: Mapping[str, str], hear: Callable[[Any], None]) -> Any:
    settings = {
        **config,
        "bootstrap.servers": bootstrap,
        # Kafka asks for a group's name; none is joined.
        "group.id": "headgate-watch-reader",
        "enable.auto.commit": False,
        "enable.partition.eof": False,
        "auto.offset.reset": "earliest",
        "error_cb": hear,
        "log_level": 0,
    }
    try:
        return Consumer(settings)
    except KafkaException as error:
        raise ConfigError(
            f"Kafka's client rejects a setting in [kafka.config]: {kafka_error(error).str()}"
        ) from None
