"""Killed before or after any effect, a group's reset and its undo end where they should."""

import itertools

import pytest
from confluent_kafka import Consumer, TopicPartition

from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.offsets.partition_offsets import committed

pytestmark = pytest.mark.kafka


@pytest.fixture
def group_lab(lab, broker, topic, produce, unique):
    """A group with one committed partition of two, in a lab."""
    orders, group = topic("orders", partitions=2), unique("billing")
    for partition in (0, 1):
        produce(orders, [str(n) for n in range(10)], partition=partition)
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    offset = TopicPartition(orders, 0, 7, metadata="by hand")
    consumer.commit(offsets=[offset], asynchronous=False)
    consumer.close()
    here = lab()
    pipeline = Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group=group, topics=(orders,))
    here.registry = Registry(
        path=here.registry.path, bootstrap_servers=broker, pipelines=(pipeline,)
    )
    return here, group, orders


def test_crashes_at_every_point_of_reset_and_undo(group_lab):
    here, group, orders = group_lab
    before = committed(here.applier(), group)
    crashed = True
    for at in itertools.count():
        if not crashed:
            break
        plan = build_plan("from-scratch", "q", here.applier())
        assert plan.can_apply, plan.blockers
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        now = committed(here.applier(), group)
        assert {key: c.offset for key, c in now.items()} == {(orders, 0): 0, (orders, 1): 0}
        undo = here.undo(run, plan)
        back = here.enqueue(undo, undo_of=run)
        crashed |= here.crash(back, undo, at, undo_of=run)
        here.execute(back, undo, undo_of=run)
        assert committed(here.applier(), group) == before
    assert at > 8


def test_what_moved_in_between_is_what_the_undo_puts_back(group_lab):
    """`from` is bound after the stop: what the preview showed is not what comes back."""
    here, group, orders = group_lab
    plan = build_plan("from-scratch", "q", here.applier())
    with_more = Consumer({"bootstrap.servers": here.registry.bootstrap_servers, "group.id": group})
    with_more.commit(offsets=[TopicPartition(orders, 1, 3)], asynchronous=False)
    with_more.close()
    before = committed(here.applier(), group)
    run = here.enqueue(plan)
    here.execute(run, plan)
    undo = here.undo(run, plan)
    assert {(m["partition"], m["from"], m["to"]) for m in undo.steps[0].details()["offsets"]} == {
        (0, 0, 7),
        (1, 0, 3),
    }
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert committed(here.applier(), group) == before


def test_an_undo_puts_back_what_a_group_had_that_has_gone_since(group_lab, kafka_admin):
    """Its offsets expire, or go with what they were about: then Kafka forgets the group, too."""
    here, group, _ = group_lab
    before = committed(here.applier(), group)
    plan = build_plan("from-scratch", "q", here.applier())
    run = here.enqueue(plan)
    here.execute(run, plan)
    kafka_admin.delete_consumer_groups([group])[group].result()
    assert here.applier().kafka.group(group).state == "dead"
    undo = here.undo(run, plan)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert committed(here.applier(), group) == before
