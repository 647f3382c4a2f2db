"""Topics deleted and made anew on a real broker, killed before or after any effect."""

import itertools
from contextlib import closing
from dataclasses import replace

import pytest
from confluent_kafka import Consumer

from headgate.errors import RefusedError, StalePlanError
from headgate.gateway.kafka import java_delete_topic
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.kafka.topic_changes import delete_topic
from headgate.gateway.process.jars import broker_class_path
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.topics.delete_topics import DeleteTopics, topic_shapes

pytestmark = pytest.mark.kafka
CONFIGS = {"cleanup.policy": "compact,delete", "retention.ms": "-1", "segment.bytes": "1048576"}


@pytest.fixture
def topics_lab(lab, broker, topic):
    """Two topics with settings of their own, in a lab."""
    here = lab()
    here.registry = Registry(path=here.registry.path, bootstrap_servers=broker)
    one = topic("app-store-changelog", partitions=3, config=CONFIGS)
    two = topic("app-by-key-repartition", partitions=2)
    return here, (one, two)


def deletion(lab, names, **more):
    shapes = lab.applier().kafka.shapes(names)
    step = DeleteTopics(topics=topic_shapes(shapes), **more)
    facts = {"cluster_id": lab.applier().kafka.cluster_id()}
    plan = Plan(scenario="from-scratch", pipeline=None, steps=(step,), preconditions=facts)
    return plan, shapes


def without_ids(shapes):
    return {name: replace(shape, id="") for name, shape in shapes.items()}


def test_topics_go_and_come_back_alike_wherever_it_crashes(topics_lab):
    here, names = topics_lab
    crashed = True
    for at in itertools.count():
        if not crashed:
            break
        plan, before = deletion(here, names)
        assert before[names[0]].configs == CONFIGS and before[names[0]].partitions == 3
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        assert here.applier().kafka.shapes(names) == {}
        undo = here.undo(run, plan)
        assert undo.can_apply, undo.blockers
        back = here.enqueue(undo, undo_of=run)
        crashed |= here.crash(back, undo, at, undo_of=run)
        here.execute(back, undo, undo_of=run)
        assert without_ids(here.applier().kafka.shapes(names)) == without_ids(before)
    assert at > 6


def test_what_a_crash_left_half_deleted_can_be_undone_instead(topics_lab):
    here, names = topics_lab
    for at in itertools.count():
        plan, before = deletion(here, names)
        run = here.enqueue(plan)
        if not here.crash(run, plan, at):
            break
        undo = here.undo(run, plan)
        if undo.steps:
            here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert without_ids(here.applier().kafka.shapes(names)) == without_ids(before)
    assert at > 4


def test_an_undo_replaces_what_was_made_since(topics_lab):
    here, names = topics_lab
    plan, before = deletion(here, names)
    run = here.enqueue(plan)
    here.execute(run, plan)
    here.applier().kafka.create_topic(replace(before[names[0]], partitions=1, configs={}))
    undo = here.undo(run, plan)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert without_ids(here.applier().kafka.shapes(names)) == without_ids(before)


def test_a_topic_made_anew_since_the_plan_is_left_alone(topics_lab):
    here, names = topics_lab
    plan, before = deletion(here, names)
    here.applier().kafka.delete_topic(before[names[1]])
    here.applier().kafka.create_topic(before[names[1]])
    with pytest.raises(StalePlanError, match="recreated since"):
        here.execute(here.enqueue(plan), plan)
    with pytest.raises(RefusedError, match="recreated with another id"):
        here.applier().kafka.delete_topic(before[names[1]])
    assert set(here.applier().kafka.shapes(names)) == set(names)


def test_a_topic_that_another_group_reads_is_left_alone(topics_lab, broker, unique):
    here, names = topics_lab
    group = unique("audit")
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    consumer.subscribe([names[0]])
    while not consumer.assignment():
        consumer.poll(0.2)
    plan, _ = deletion(here, names)
    said = f"{names[0]} still has active consumer groups: {group}"
    with pytest.raises(RefusedError, match=said):
        here.execute(here.enqueue(plan), plan)
    plan, _ = deletion(here, names, group=group, group_type="classic")
    with pytest.raises(RefusedError, match="Stop all members first"):
        here.execute(here.enqueue(plan), plan)
    consumer.close()
    assert set(here.applier().kafka.shapes(names)) == set(names)


def test_a_topic_is_not_deleted_while_its_pipeline_runs(topics_lab):
    here, names = topics_lab
    commands = Commands(status="[ -e running ] && exit 0 || exit 3")
    query = Pipeline(name="q", engine=Engine.SPARK, commands=commands)
    here.registry = replace(here.registry, pipelines=(query,))
    plan, _ = deletion(here, names, pipeline="q")
    with pytest.raises(RefusedError, match="its status is running"):
        here.execute(here.enqueue(plan), plan)
    (here.folder / "running").unlink()
    here.execute(here.enqueue(plan), plan)
    assert here.applier().kafka.shapes(names) == {}


def test_a_deletion_reads_back_as_it_was_written(topics_lab):
    here, names = topics_lab
    plan, _ = deletion(here, names)
    assert load_step(plan.steps[0].action, plan.steps[0].details()) == plan.steps[0]


def test_an_id_is_what_is_deleted_whatever_has_its_name_by_then(topics_lab, broker):
    here, (name, _) = topics_lab
    gone = here.applier().kafka.shapes([name])[name]
    here.applier().kafka.delete_topic(gone)
    here.applier().kafka.create_topic(gone)
    now = here.applier().kafka.shapes([name])[name]
    with closing(JavaAdmin(broker, class_path=broker_class_path())) as java:
        assert java_delete_topic.delete_topic(java, gone.id)
        assert here.applier().kafka.shapes([name])[name] == now
        assert java_delete_topic.delete_topic(java, now.id)
    here.applier().kafka.delete_topic(now)
    assert here.applier().kafka.shapes([name]) == {}


def test_without_kafkas_java_client_it_goes_by_name(topics_lab, broker):
    here, (name, _) = topics_lab
    shape = here.applier().kafka.shapes([name])[name]
    with Kafka(broker) as kafka:
        delete_topic(kafka, name, shape.id)
    assert here.applier().kafka.shapes([name]) == {}
