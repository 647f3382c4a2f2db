"""Step over poison records of a real group: backed up first, and only where it stands."""

import pytest
from confluent_kafka import Consumer, TopicPartition

from headgate.errors import RefusedError, ScenarioError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.records.back_up_records import backup_topic_name

pytestmark = pytest.mark.kafka


@pytest.fixture
def stuck(lab, broker, topic, produce, unique):
    """A group that is at offset 3 of partition 1, where the poison is; engine as asked."""
    here, orders, group = lab(), topic("orders", partitions=2), unique("billing")
    produce(
        orders, [(f"k{n}", "poison" if n in (3, 4) else f"v{n}") for n in range(8)], partition=1
    )
    commit(
        broker, group, TopicPartition(orders, 1, 3, metadata="ours"), TopicPartition(orders, 0, 0)
    )

    def stuck(engine=Engine.CONSUMER_GROUP):
        pipeline = Pipeline(name="q", engine=engine, group=group, topics=(orders,))
        here.registry = Registry(
            path=here.registry.path, bootstrap_servers=broker, pipelines=(pipeline,)
        )
        return here, group, orders

    return stuck


def commit(broker, group, *offsets):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.commit(offsets=list(offsets), asynchronous=False)
    consumer.close()


def plan_of(here, records):
    return build_plan("skip-records", "q", here.applier(), {"records": records})


def read_on(broker, group, topic):
    """What a member of the group is given next of partition 1, until nothing more is there."""
    consumer = Consumer(
        {"bootstrap.servers": broker, "group.id": group, "enable.partition.eof": True}
    )
    consumer.assign([consumer.committed([TopicPartition(topic, 1)], timeout=10)[0]])
    found = []
    while (message := consumer.poll(20)) is not None and message.error() is None:
        found.append(message.value().decode())
    consumer.close()
    return found


@pytest.mark.parametrize("engine", [Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS])
def test_a_range_is_backed_up_and_stepped_over_and_comes_back(stuck, broker, consume, engine):
    here, group, orders = stuck(engine)
    before = committed(here.applier(), group)
    plan = plan_of(here, f"{orders}:1:3-4")
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "record_offsets",
        "back_up_records",
        "skip_records",
    ]
    assert plan.steps[-1].details()["offsets"] == (
        {"topic": orders, "partition": 1, "from": 3, "to": 5},
    )
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert read_on(broker, group, orders) == ["v5", "v6", "v7"]
    backed_up = consume(backup_topic_name(run, orders), 2)
    assert [(m.partition(), m.key(), m.value()) for m in backed_up] == [
        (1, b"k3", b"poison"),
        (1, b"k4", b"poison"),
    ]
    assert dict(backed_up[0].headers())["headgate.backup.from"] == f"{orders} 1 3".encode()

    undo = here.undo(run, plan)
    assert undo.can_apply, undo.blockers
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert committed(here.applier(), group) == before
    assert read_on(broker, group, orders)[:2] == ["poison", "poison"]
    # Retention may have taken the originals by then: the copy is nobody's to throw away.
    assert len(consume(backup_topic_name(run, orders), 2)) == 2


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (
            "1:4",
            "offset 3 is before the range to skip, so the run would also skip up to 1 record",
        ),
        ("1:1-2", "the committed offset 3 is already past the range"),
        ("1:3-9", r"\[1\] doesn't have offsets 3 to 9: it has offsets 0 to 7"),
        ("5:0", "has no partition 5"),
    ],
)
def test_what_would_lose_or_repeat_records_is_refused(stuck, records, reason):
    here, _, orders = stuck()
    plan = plan_of(here, f"{orders}:{records}")
    assert not plan.can_apply
    assert all(count >= 0 for count in plan.impact["skipped"].values())
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError("; ".join(plan.blockers))


def test_a_group_that_went_on_meanwhile_is_not_moved_back(stuck, broker):
    here, group, orders = stuck()
    plan = plan_of(here, f"{orders}:1:3")
    commit(broker, group, TopicPartition(orders, 1, 7))
    with pytest.raises(RefusedError, match="already past the range"):
        here.execute(here.enqueue(plan), plan)
    assert committed(here.applier(), group)[orders, 1].offset == 7


def test_wrong_words_and_unknown_names_are_told(stuck):
    here, _, orders = stuck()
    for wrong in ("orders", f"{orders}:1", f"{orders}:1:9-3", f"{orders}:x:3"):
        with pytest.raises(ScenarioError, match="expected TOPIC:PARTITION:OFFSET"):
            plan_of(here, wrong)
    assert plan_of(here, "nowhere:0:1").blockers == (
        "topic nowhere does not exist. Check its name, or recreate the topic if it was deleted",
    )
