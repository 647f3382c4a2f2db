"""Dead letter topics as Kafka Connect, Kafka Streams, Spring and SmallRye write them."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterable, Mapping

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from support.waiting import PATIENCE

Headers = list[tuple[str, bytes | None]]
OWN: Headers = [("trace", b"t-1"), ("empty", None)]
CLASS = "org.apache.kafka.connect.errors.DataException"


def connect(topic, partition, offset, reason=CLASS, own=OWN) -> Headers:
    """The headers of Connect's DeadLetterQueueReporter, after the record's own."""
    said = {
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
        "connector.name": "jdbc-sink",
        "task.id": "0",
        "stage": "VALUE_CONVERTER",
        "class.name": "org.apache.kafka.connect.json.JsonConverter",
        "exception.class.name": reason,
        "exception.message": "Converting byte[] to Kafka Connect data failed",
        "exception.stacktrace": f"{reason}: no\n\tat a.B.c(B.java:1)\n",
    }
    return [*own, *((f"__connect.errors.{k}", v.encode()) for k, v in said.items())]


def streams(topic, partition, offset, reason="java.lang.IllegalStateException", own=OWN) -> Headers:
    """The headers of Kafka Streams' ExceptionHandlerUtils (KIP-1034), after the record's own."""
    said = {
        "exception": reason,
        "message": "negative amount",
        "stacktrace": f"{reason}: negative amount\n\tat a.B.c(B.java:1)\n",
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
    }
    return [*own, *((f"__streams.errors.{k}", v.encode()) for k, v in said.items())]


def spring(topic, partition, offset, reason="shop.BadOrder", at=1_000, own=OWN) -> Headers:
    """The headers of Spring's DeadLetterPublishingRecoverer, after the record's own."""
    wrapper = "org.springframework.kafka.listener.ListenerExecutionFailedException"
    return [
        *own,
        ("kafka_dlt-original-topic", topic.encode()),
        ("kafka_dlt-original-partition", struct.pack(">i", partition)),
        ("kafka_dlt-original-offset", struct.pack(">q", offset)),
        ("kafka_dlt-original-timestamp", struct.pack(">q", at)),
        ("kafka_dlt-original-timestamp-type", b"CreateTime"),
        ("kafka_dlt-original-consumer-group", b"billing"),
        ("kafka_dlt-exception-fqcn", wrapper.encode()),
        ("kafka_dlt-exception-cause-fqcn", reason.encode()),
        ("kafka_dlt-exception-message", b"no"),
        ("kafka_dlt-exception-stacktrace", b"..."),
    ]


def smallrye(topic, partition, offset, reason="shop.BadOrder", own=OWN) -> Headers:
    """The headers of SmallRye's KafkaDeadLetterQueue, after the record's own."""
    said = {
        "exception-class-name": reason,
        "reason": "no",
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
    }
    return [*own, *((f"dead-letter-{k}", v.encode()) for k, v in said.items())]


def write(bootstrap: str, records: Iterable[Mapping[str, object]], **settings: object) -> None:
    """Write records as `Producer.produce` takes them."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **settings})
    failed: list[str] = []

    def delivered(error, _):
        if error is not None:
            failed.append(error.str())

    for record in records:
        while True:
            try:
                producer.produce(**record, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.2)
        producer.poll(0)
    assert producer.flush(60) == 0 and not failed, failed


def fail_records(bootstrap, topic, dead, count, *, kind=connect, partitions=2, start=0, parts=None):
    """Write `count` dead letters of records that failed in `topic`, over the given partitions."""
    now = int(time.time() * 1000) - 7_200_000
    places = parts or list(range(partitions))
    write(
        bootstrap,
        (
            {
                "topic": dead,
                "key": f"k{n % 5}".encode(),
                "value": json.dumps({"id": n}).encode(),
                "partition": places[n % len(places)],
                "timestamp": now + n,
                "headers": kind(topic, n % 2, n),
            }
            for n in range(start, start + count)
        ),
    )


def read(bootstrap: str, topic: str, isolation: str = "read_committed") -> list:
    """Return the messages of a topic, by partition and offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "truth-of-dead-letters",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
    )
    try:
        numbers = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in numbers])
        found, open_, deadline = [], set(numbers), time.monotonic() + PATIENCE
        while open_:
            assert time.monotonic() < deadline, f"{topic} could not be read in time"
            for message in consumer.consume(500, 0.5):
                if message.error() is None:
                    found.append(message)
                else:
                    open_.discard(message.partition())
        return sorted(found, key=lambda m: (m.partition(), m.offset()))
    finally:
        consumer.close()


def own_headers(message) -> dict[str, str]:
    """Return what Headgate's headers of a redriven record say."""
    head = "headgate.redrive."
    return {
        k.removeprefix(head): v.decode() for k, v in message.headers() or () if k.startswith(head)
    }


def in_transactions(bootstrap: str, topic: str, dead: str, *, partition: int = 0) -> None:
    """Write 10 letters in two transactions, and 5 in one that is aborted: they leave markers."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"letters-of-{dead}"})
    producer.init_transactions(60)
    for first, count, is_kept in ((0, 5, True), (100, 5, False), (5, 5, True)):
        producer.begin_transaction()
        for n in range(first, first + count):
            producer.produce(
                dead,
                key=f"k{n % 5}".encode(),
                value=json.dumps({"id": n}).encode(),
                partition=partition,
                timestamp=int(time.time() * 1000) - 7_200_000 + n,
                headers=connect(topic, n % 2, n),
            )
        # What is aborted before it is sent leaves nothing behind.
        assert producer.flush(30) == 0
        (producer.commit_transaction if is_kept else producer.abort_transaction)(60)
