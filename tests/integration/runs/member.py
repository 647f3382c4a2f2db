"""A consumer for the tests: stays in its group until SIGTERM, commits nothing."""

import signal
import sys

from confluent_kafka import Consumer

bootstrap, group, topic = sys.argv[1:]
going = [True]
signal.signal(signal.SIGTERM, lambda *_: going.clear())
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "auto.offset.reset": "earliest",
    }
)
consumer.subscribe([topic])
while going:
    consumer.poll(0.2)
consumer.close()
