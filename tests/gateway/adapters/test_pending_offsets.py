"""Offsets that a transaction has committed and not yet decided on count as somebody alive."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headgate.errors import RefusedError
from headgate.gateway.adapters.live import LiveApplier, LiveInspector
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.kafka.cluster import Kafka
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.base.step import check_inactive
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.process.wait_until_stopped import wait_until_stopped

pytestmark = pytest.mark.kafka


@pytest.fixture
def billing(broker, topic, unique, tmp_path):
    """A group with commits on two partitions, and a transaction that is at one of them."""
    name, group = topic("in", partitions=2), unique("eos")
    settings = {"bootstrap.servers": broker, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer(settings)
    parts = [TopicPartition(name, n, 0) for n in (0, 1)]
    consumer.commit(offsets=parts, asynchronous=False)
    producer = Producer({"bootstrap.servers": broker, "transactional.id": unique("t")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"x", partition=0)
    producer.flush(20)
    metadata = consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction([TopicPartition(name, 0, 1)], metadata, 30)
    pipeline = Pipeline(name="billing", engine=Engine.CONSUMER_GROUP, group=group, topics=(name,))
    registry = Registry(bootstrap_servers=broker, pipelines=(pipeline,))
    yield registry, tmp_path, name, group, producer
    producer.purge()
    consumer.close()


def test_an_open_transaction_at_the_offsets_is_named_waited_for_and_refused(billing):
    registry, home, name, group, producer = billing
    with Kafka(registry.bootstrap_servers) as kafka:
        found = kafka.describe_group(group)
        # What was committed before it stands, and is read.
        assert [(o.partition, o.offset, o.pending) for o in found.offsets] == [
            (0, 0, True),
            (1, 0, False),
        ]
    with closing(LiveInspector(registry, home)) as inspector:
        plan = build_plan("from-point", "billing", inspector, {"to-earliest": True})
        assert plan.can_apply
        assert any(f"an open transaction includes offsets of group {group} on {name}" in risk
                   for risk in plan.risks)  # fmt: skip
        for refuse in (
            lambda: check_stopped(inspector, "billing", group=group),
            lambda: check_inactive(inspector, group, found.type.value),
        ):
            with pytest.raises(RefusedError, match="in an open transaction"):
                refuse()
        notes, paused = [], []

        def pause(seconds):
            paused.append(seconds)
            if len(paused) == 2:
                ending = threading.Thread(target=producer.abort_transaction, args=(30,))
                ending.start()
                ending.join()

        applier = LiveApplier(
            RunContext(registry=registry, home=home, run="r", pause=pause, note=notes.append)
        )
        with closing(applier):
            wait_until_stopped(applier, "billing", group=group, patient=False)
        assert notes == [f"waiting for the open transaction of group {group} to end"]
        assert len(paused) >= 2
        check_inactive(inspector, group, found.type.value)
