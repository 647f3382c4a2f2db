"""Write records in their order and without gaps, exactly as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaException, Producer

from headgate.errors import ConfigError, StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.errors import kafka_error
from headgate.gateway.kafka.read_records import Record

_LOOK_EVERY = 1000
_SILENT_S = 120.0
_WRITER = {
    "enable.idempotence": True,
    # A record that the broker refuses ends the copy: no later one may stand in its place.
    "enable.gapless.guarantee": True,
    "message.max.bytes": 1_000_000_000,
    "compression.type": "lz4",
    "linger.ms": 5,
    "log_level": 0,
}
Watch = Callable[[int], None]


def name_of(record: Record) -> str:
    """Return the record's topic, partition and offset in words, as errors name it."""
    return f"record {record.offset} of {record.topic}[{record.partition}]"


def write_in_order(kafka: Kafka, records: Iterable[Record], watch: Watch) -> None:
    """Write in order, without gaps: the first record that the broker refuses ends it."""
    failed: list[str] = []

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(error.str())

    producer = _producer(kafka)
    try:
        for count, record in enumerate(records):
            _check(record)
            _produce(producer, record, delivered)
            if failed or not count % _LOOK_EVERY:
                _raise(failed)
            watch(1)
        left = producer.flush(_SILENT_S)
    except BaseException:
        # A cancelled run leaves nothing on the way that could arrive later.
        producer.purge(in_flight=False)
        producer.flush(_SILENT_S)
        raise
    _raise(failed or (["Kafka did not acknowledge all records"] if left else []))


def _raise(failed: list[str]) -> None:
    if failed:
        raise StepError(f"records could not be copied: {failed[0]}")


def _check(record: Record) -> None:
    if record.timestamp == 0:
        raise StepError(
            f"{name_of(record)} has timestamp 0: Kafka's client would write the current time "
            "instead, so Headgate doesn't copy the record. Run `headgate undo RUN` to "
            "roll back"
        )


def _producer(kafka: Kafka) -> Any:
    try:
        return Producer({**kafka.config, **_WRITER, "bootstrap.servers": kafka.bootstrap})
    except KafkaException as error:
        raise ConfigError(
            f"Kafka's client rejects a setting in [kafka.config]: {kafka_error(error).str()}"
        ) from None


def _produce(producer: Any, record: Record, delivered: Any) -> None:
    at = -1 if record.timestamp is None else record.timestamp
    while True:
        try:
            producer.produce(
                record.topic,
                key=record.key,
                value=record.value,
                partition=record.partition,
                headers=list(record.headers),
                timestamp=at,
                on_delivery=delivered,
            )
        except BufferError:
            producer.poll(0.5)
            continue
        except KafkaException as error:
            raise StepError(
                f"{name_of(record)} could not be copied: {kafka_error(error).str()}"
            ) from None
        producer.poll(0)
        return
