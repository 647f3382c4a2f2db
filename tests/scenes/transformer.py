"""A consumer that writes one result for each record: `transformer.py BOOTSTRAP GROUP IN OUT`.

It writes `{"id", "amount", "by"}` to OUT, waits until Kafka has it, and commits. `--by` is what it
calls itself, `--more` is added to each amount, `--text` writes amounts as text. SIGTERM ends it
after a commit; with `--careless` it ends between a write and its commit.
"""

from __future__ import annotations

import argparse
import json
import signal

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

GOING = [True]


def main() -> None:
    parser = argparse.ArgumentParser()
    for word in ("bootstrap", "group", "source", "output"):
        parser.add_argument(word)
    parser.add_argument("--by", default="old")
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--careless", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: GOING.clear())
    consumer = Consumer(
        {
            "bootstrap.servers": given.bootstrap,
            "group.id": given.group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 6000,
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.max.ms": 1000,
            "log_level": 0,
        }
    )
    producer = Producer(
        {"bootstrap.servers": given.bootstrap, "linger.ms": 5, "enable.idempotence": True}
    )
    consumer.subscribe([given.source])
    while GOING:
        messages = [m for m in consumer.consume(100, 0.2) if m.error() is None]
        if messages and not _process(given, consumer, producer, messages):
            break
    consumer.close()


def _process(given, consumer, producer, messages) -> bool:
    for message in messages:
        producer.produce(given.output, key=message.key(), value=_result(given, message.value()))
    if producer.flush(60):
        return False
    if given.careless and not GOING:
        return False
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    offsets = [TopicPartition(t, p, o) for (t, p), o in ends.items()]
    try:
        consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException:
        # Read again after the rebalance, as every consumer that commits last.
        return False
    return True


def _result(given, value: bytes) -> str:
    order = json.loads(value)
    amount = order["amount"] + given.more
    return json.dumps(
        {"id": order["id"], "amount": str(amount) if given.text else amount, "by": given.by}
    )


if __name__ == "__main__":
    main()
