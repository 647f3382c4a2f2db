"""A plain consumer group: passes each order to the topic of bills, then commits."""

import json
import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())
stopped = False


def stop(*_):
    global stopped
    stopped = True


def main():
    consumer = Consumer(
        {
            "bootstrap.servers": SETTINGS["broker"],
            "group.id": SETTINGS["group"],
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    producer = Producer({"bootstrap.servers": SETTINGS["broker"], "linger.ms": 5})
    consumer.subscribe([SETTINGS["input"]])
    while not stopped:
        # What is no record tells of offsets that are out of range: the client begins elsewhere.
        messages = [m for m in consumer.consume(100, 0.3) if not m.error()]
        for message in messages:
            order = json.loads(message.value())
            if order["id"].startswith("poison"):
                sys.exit(f"can't bill {order['id']}")
            producer.produce(SETTINGS["output"], key=message.key(), value=message.value())
        if messages:
            producer.flush(30)
            last = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
            offsets = [TopicPartition(*place, at) for place, at in last.items()]
            consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    main()
