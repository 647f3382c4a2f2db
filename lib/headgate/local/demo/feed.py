"""Feed the demo's topics: `python -m headgate.local.demo.feed`; SIGTERM ends it.

Where there are no orders yet it first writes the customers and a quarter of an hour of history.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterable

from confluent_kafka import Consumer, Producer, TopicPartition

from headgate.local.demo.shop import Event, Shop
from headgate.local.demo.topics import ORDERS, kafka

HISTORY = 15 * 60.0
_TICK = 0.5


def main() -> None:
    """Write until SIGTERM."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
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
        return any(
            consumer.get_watermark_offsets(TopicPartition(ORDERS.name, number), timeout=10)[1]
            for number in range(ORDERS.partitions)
        )
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
