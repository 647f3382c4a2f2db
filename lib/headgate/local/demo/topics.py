"""The topics of the demo business, and where its Kafka is."""

from __future__ import annotations

import os
from concurrent.futures import Future
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

KAFKA = "HEADGATE_DEMO_KAFKA"
DEFAULT_KAFKA = "127.0.0.1:9092"
_CREATE_SECONDS = 60
_BOUNDED = {"retention.ms": "86400000", "retention.bytes": "134217728", "segment.bytes": "16777216"}


@dataclass(frozen=True, slots=True)
class DemoTopic:
    """A topic of the demo: values are JSON, keys are the id that its first field names."""

    name: str
    partitions: int = 2
    config: dict[str, str] = field(default_factory=lambda: dict(_BOUNDED))


ORDERS = DemoTopic("orders")
PAYMENTS = DemoTopic("payments")
CUSTOMERS = DemoTopic("customers", 1, {"cleanup.policy": "compact"})
CITY_REVENUE = DemoTopic("city-revenue")
REVENUE_ALERTS = DemoTopic("revenue-alerts", 1)
TOPICS = (ORDERS, PAYMENTS, CUSTOMERS, CITY_REVENUE, REVENUE_ALERTS)


def kafka() -> str:
    """Return the bootstrap servers of the demo's Kafka."""
    return os.environ.get(KAFKA, DEFAULT_KAFKA)


def create_topics(bootstrap: str) -> None:
    """Create those topics that are not there yet."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    there = admin.list_topics(timeout=10).topics
    missing = [
        NewTopic(t.name, num_partitions=t.partitions, replication_factor=1, config=t.config)
        for t in TOPICS
        if t.name not in there
    ]
    for done in (admin.create_topics(missing) if missing else {}).values():
        _created(done)


def _created(done: Future[None]) -> None:
    """Wait for one topic. A slow broker's late answer makes the client ask again: that is fine."""
    try:
        done.result(_CREATE_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
