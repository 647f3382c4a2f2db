"""What the console shows of a real broker: groups that lag, topics that nobody uses."""

from __future__ import annotations

import json
import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from support.console_seed import seed, write_checkpoint
from support.waiting import PATIENCE


def fill_cluster(folder, broker, kafka_admin):
    """Return a registry over a broker with groups that lag, one undeclared, and unused topics."""
    file = seed(folder, bootstrap=broker)
    topics = ("orders", "payments", "city-revenue", "city-revenue-v2", "city-alerts",
              "old-imports", "shop-7-counts-store-changelog",
              "shop-7-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog")  # fmt: skip
    made = kafka_admin.create_topics(
        [NewTopic(t, num_partitions=3, replication_factor=1) for t in topics]
    )
    for done in made.values():
        done.result()
    producer = Producer({"bootstrap.servers": broker})
    for n in range(900):
        producer.produce(topics[n % 5], key=str(n), value=b"x" * 50, partition=n % 3)
    for n in range(50):
        producer.produce("shop-7-counts-store-changelog", value=b"y" * 500, partition=n % 3)
    producer.flush(30)
    for group, committed in (("billing", 12), ("nightly-export", 3)):
        member = Consumer({"bootstrap.servers": broker, "group.id": group})
        parts = [TopicPartition("city-revenue", p, committed * (p + 1)) for p in range(3)]
        commit(member, parts)
        member.close()
    write_offsets(
        folder / "ck" / "orders-by-city",
        {"orders": {"0": 20, "1": 45, "2": 60}},
        {"payments": {"0": 5, "1": 40, "2": 55}},
    )
    lost = [TopicPartition("payments", 0, 30)]
    for done in kafka_admin.delete_records(lost).values():
        done.result()
    return file


def commit(member, parts):
    """Commit as soon as the group's coordinator has loaded."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            member.commit(offsets=parts, asynchronous=False)
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def write_offsets(folder, *sources):
    """Write what a Spark query leaves behind after one batch."""
    write_checkpoint(folder, batches=1)
    conf = {"spark.sql.shuffle.partitions": "1"}
    head = {"batchWatermarkMs": 0, "batchTimestampMs": 1795250729015, "conf": conf}
    lines = ["v1", *map(json.dumps, (head, *sources))]
    (folder / "offsets" / "0").write_text("\n".join(lines))
