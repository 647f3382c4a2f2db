"""Feed the demo's topics: `python -m headgate.local.demo.feed`; SIGTERM ends it.

Where there are no orders yet it first writes the customers and a quarter of an hour of history.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from headgate.gateway.process.stop_signals import when_asked_to_end
from headgate.local.demo.shop import Event, Shop
from headgate.local.demo.topics import ORDERS, kafka

_LEADER_SECONDS = 30.0
_NO_LEADER_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._NOENT,
    KafkaError._UNKNOWN_PARTITION,
)

HISTORY = 15 * 60.0
_TICK = 0.5


def main() -> None:
    """Write until SIGTERM."""
    ended = threading.Event()
    when_asked_to_end(ended.set, signal.SIGTERM)
    producer = Producer({"bootstrap.servers": kafka(), "linger.ms": 20})
    shop = Shop(time.time())
    if not has_orders(kafka()):
        shop = Shop(time.time() - HISTORY)
        write(producer, shop.customers())
    while not ended.wait(_TICK):
        write(producer, shop.advance(time.time()))
    producer.flush(5)


def write(producer: Producer, events: Iterable[Event]) -> None:
    """Hand the events to the producer, each with the time at which it happens."""
    for event in events:
        while True:
            try:
                value = json.dumps(event.value)
                at = int(event.at * 1000)
                producer.produce(event.topic, value=value, key=event.key, timestamp=at)
                break
            except BufferError:
                producer.poll(0.1)
    producer.poll(0)


def has_orders(bootstrap: str) -> bool:
    """Whether anything was ever written to the orders."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "headgate-demo-feed"})
    try:
        return any(_end(consumer, number) for number in range(ORDERS.partitions))
    finally:
        consumer.close()


def _end(consumer: Consumer, number: int) -> int:
    """Return a partition's end; one that was just created has its leader a moment later."""
    deadline = time.monotonic() + _LEADER_SECONDS
    while True:
        try:
            partition = TopicPartition(ORDERS.name, number)
            return int(consumer.get_watermark_offsets(partition, timeout=10)[1])
        except KafkaException as error:
            if error.args[0].code() not in _NO_LEADER_YET or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main()
