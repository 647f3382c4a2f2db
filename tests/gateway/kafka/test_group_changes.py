"""Removing members and seeing open transactions on a real broker."""

from __future__ import annotations

import time
import uuid
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from headgate.errors import RefusedError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka.java_group_changes import delete_streams_offsets, remove_members
from headgate.gateway.kafka.java_transactions import abort_transaction, open_transactions
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.transactions import is_of_application
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka


def test_static_members_are_removed_too(java_admin, broker, topic, unique):
    from headgate.gateway.kafka.cluster import Kafka

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
    until(
        lambda: not [t for t in open_transactions(java_admin, [(name, 1)]) if name in t.topics],
        "it is still open",
    )


@pytest.fixture
def left_open(broker, topic, unique):
    """A topic, a transaction that its producer has left open there, and a record behind it."""
    name, one = topic("orders"), unique("transfers")
    producer = Producer({"bootstrap.servers": broker, "transactional.id": one})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"half")
    producer.flush(20)
    other = Producer({"bootstrap.servers": broker})
    other.produce(name, b"behind")
    other.flush(20)
    yield name, one, producer
    producer.purge()


def committed_records(broker, name, group, seconds=PATIENCE):
    """Offsets and values of the first that a reader of committed records gets in time."""
    settings = {"bootstrap.servers": broker, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(name, 0, 0)])
    found = []
    deadline = time.monotonic() + seconds
    while not found and time.monotonic() < deadline:
        if (message := consumer.poll(0.5)) is not None and not message.error():
            found.append((message.offset(), message.value()))
    consumer.close()
    return found


def test_a_transaction_that_nobody_ends_is_aborted_and_its_producer_fenced(
    left_open, broker, unique, tmp_path
):
    name, one, producer = left_open
    group = unique("billing")
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.commit(offsets=[TopicPartition(name, 0, 0)], asynchronous=False)
    consumer.close()
    pipeline = Pipeline(name="billing", engine=Engine.CONSUMER_GROUP, group=group)
    registry = Registry(bootstrap_servers=broker, pipelines=(pipeline,))
    notes = []
    with closing(
        LiveApplier(
            RunContext(
                registry=registry, home=tmp_path, run="r", pause=time.sleep, note=notes.append
            )
        )
    ) as applier:
        refused = build_plan("repair", "billing", applier)
        assert f"{one} (ongoing)" in refused.blockers[0]
        assert "--abort-transaction" in refused.blockers[0]
        wrong = build_plan("repair", "billing", applier, {"abort-transaction": ["nobody"]})
        assert (
            f"no open transaction nobody on the topics that group {group} reads"
            in wrong.blockers[0]
        )
        plan = build_plan("repair", "billing", applier, {"abort-transaction": [one]})
        assert plan.can_apply, plan.blockers
        assert "isolation.level=read_committed never receive" in plan.risks[0]
        step: Any
        (step,) = plan.steps
        assert not step.undoable and committed_records(broker, name, group, 3) == []

        # One that began since, under the same id, is somebody's who lives.
        with pytest.raises(RefusedError, match="was opened again"):
            replace(step, epoch=step.epoch + 1).check(applier)
        step.check(applier)
        step.apply(applier, {})
        step.verify(applier, {})
        assert step.is_applied(applier, {})
        # After a crash it may be done already.
        step.check(applier, again=True)
        with pytest.raises(RefusedError, match="is no longer open"):
            step.check(applier)
    assert committed_records(broker, name, group) == [(1, b"behind")]
    with pytest.raises(KafkaException) as fenced:
        producer.commit_transaction(20)
    assert "FENCED" in fenced.value.args[0].name()


def test_the_end_is_written_into_a_partition_whose_coordinator_does_not_know(
    java_admin, left_open, broker, unique
):
    name, one, _ = left_open
    (known,) = [t for t in open_transactions(java_admin, []) if t.id == one]
    # As it is seen where its coordinator has forgotten it.
    hanging = replace(known, id=None, partition=0, coordinator_epoch=0)
    assert hanging.name == f"{name}:0:{known.producer}"
    abort_transaction(java_admin, hanging)
    assert committed_records(broker, name, unique("reader")) == [(1, b"behind")]


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
