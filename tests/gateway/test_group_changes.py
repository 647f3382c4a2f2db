"""Removing members and seeing open transactions on a real broker."""

from __future__ import annotations

import time
import uuid

import pytest
from confluent_kafka import Consumer, Producer

from headgate.gateway.kafka_java_changes import delete_streams_offsets, remove_members
from headgate.gateway.kafka_java_transactions import open_transactions
from headgate.model.transactions import is_of_application

pytestmark = pytest.mark.kafka


def test_static_members_are_removed_too(java_admin, broker, topic, unique):
    from headgate.gateway.kafka import Kafka

    name, group = topic(), unique("group")
    consumer = Consumer(
        {"bootstrap.servers": broker, "group.id": group, "group.instance.id": "one"}
    )
    consumer.subscribe([name])
    for _ in range(60):
        if consumer.assignment():
            break
        consumer.poll(0.5)
    consumer.commit(offsets=None, asynchronous=True)
    consumer.close()  # A static member does not leave: it stays until its session ends.
    with Kafka(broker, java=java_admin) as kafka:
        assert [m.instance_id for m in kafka.describe_group(group).members] == ["one"]
        assert not kafka.describe_group(group).is_inactive
        remove_members(java_admin, group)
        assert kafka.describe_group(group).members == ()
    remove_members(java_admin, group)


def test_an_open_transaction_is_seen_with_its_topics(java_admin, broker, topic, unique):
    name, app = topic("out", partitions=2), unique("app")
    one = f"{app}-{uuid.uuid4()}-1"
    producer = Producer({"bootstrap.servers": broker, "transactional.id": one})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"half", partition=1)
    producer.flush(20)
    mine = [t for t in open_transactions(java_admin, [(name, 0), (name, 1)]) if name in t.topics]
    assert [(t.id, t.state) for t in mine] == [(one, "ongoing")]
    assert is_of_application(one, app)
    producer.abort_transaction(30)
    deadline = time.monotonic() + 30
    while [t for t in open_transactions(java_admin, [(name, 1)]) if name in t.topics]:
        assert time.monotonic() < deadline, "it is still open"
        time.sleep(0.2)


def test_offsets_of_a_group_that_is_not_there_are_no_refusal(java_admin, topic, unique):
    assert delete_streams_offsets(java_admin, unique("nobody"), [(topic(), 0)]) == {}


@pytest.mark.parametrize(
    ("transactional_id", "is_its"),
    [
        ("app-6f1e2c1a-0b7d-4a52-9c3e-111111111111-1", True),
        ("app-0_3", True),
        ("app-2-6f1e2c1a-0b7d-4a52-9c3e-111111111111-1", False),
        ("app-2-0_3", False),
        ("ap", False),
    ],
)
def test_an_id_is_one_applications_alone(transactional_id, is_its):
    assert is_of_application(transactional_id, "app") is is_its
