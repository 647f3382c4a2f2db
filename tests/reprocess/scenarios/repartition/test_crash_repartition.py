"""Killed before or after any effect, an application's inputs get their partitions all the same."""

import itertools
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, TopicPartition

from headgate.model.kafka_streams import (
    Repartition,
    StreamsApplication,
    StreamsProcessor,
    StreamsSource,
    StreamsStore,
)
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine, Version
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.offsets.partition_offsets import committed
from support.crashing import Crash, Points

pytestmark = pytest.mark.kafka
COMMANDS = Commands(status="[ -e running ] && exit 0 || exit 3", clean="rm -f state && echo >> c")


def node(name, kind, part, *after, stores=()):
    return StreamsProcessor(
        name=name, kind=kind, operator=kind, subtopology=part, successors=after, stores=stores
    )


def facts(orders):
    """Orders by key over a repartition topic, counted behind it."""
    return StreamsApplication(
        described=True,
        processors=(
            node("s", "source", 0, "to"),
            node("to", "sink", 0),
            node("from", "source", 1, "count"),
            node("count", "processor", 1, stores=("counts",)),
        ),
        stores=(StreamsStore(name="counts", changelog="counts-changelog"),),
        repartitions=(Repartition(name="g", topic="g-repartition", writes_from=(0,)),),
        sources=(StreamsSource(processor="s", topics=(orders,), subtopology=0),),
    )


@pytest.fixture
def application(lab, broker, topic, produce, unique):
    """An application that is stopped: its input, internal topics, offsets, and a file of state."""
    here, orders, app = lab(), topic("orders", partitions=2), unique("app")
    (here.folder / "running").unlink()
    for partition in (0, 1):
        produce(orders, [str(n) for n in range(10)], partition=partition)
    pipeline = Pipeline(name="q", engine=Engine.KAFKA_STREAMS, group=app, commands=COMMANDS)
    path = here.registry.path
    here.registry = Registry(path=path, bootstrap_servers=broker, pipelines=(pipeline,))
    return here, orders, app


def at_work(here, orders, app, has):
    """What it leaves when it has read 7 records over so many partitions, and is stopped."""
    applier = here.applier()
    shape = applier.kafka.shapes([orders])[orders]
    own = [f"{app}-counts-changelog", f"{app}-g-repartition"]
    for name in own:
        if found := applier.kafka.shapes([name]).get(name):
            applier.kafka.delete_topic(found)
        applier.kafka.create_topic(replace(shape, name=name, id="", partitions=has, configs={}))
    consumer = Consumer({"bootstrap.servers": here.registry.bootstrap_servers, "group.id": app})
    consumer.commit(
        offsets=[TopicPartition(orders, 0, 7), TopicPartition(own[1], 0, 0)], asynchronous=False
    )
    consumer.close()
    (here.folder / "state").touch()
    return own


class EveryCall(Points):
    """Only before and after effects: a crash at a journal entry is one after the last of them."""

    def wrap(self, call):
        return call if call.__name__ in ("begin", "done") else super().wrap(call)


def crashes(lab, run, plan, at):
    try:
        lab.execute(run, plan, points=EveryCall(at))
    except Crash:
        return True
    return False


def test_it_ends_the_same_wherever_it_crashes(application):
    here, orders, app = application
    version = Version(engine=Engine.KAFKA_STREAMS, streams=facts(orders))
    undone = 0
    for at in itertools.count():
        has = here.applier().kafka.identities([orders])[orders][1]
        own = at_work(here, orders, app, has)
        before = committed(here.applier(), app)
        options = {"partitions": str(has + 1)}
        plan = build_plan("repartition", "q", here.applier(), options, version=version)
        assert plan.can_apply, plan.blockers
        run = here.enqueue(plan)
        crashed = crashes(here, run, plan, at)
        undo = here.undo(run, plan)
        if here.applier().kafka.identities([orders])[orders][1] == has:
            # Up to the raise nothing is lost: offsets, topics and state are as they were.
            assert not any("can't be undone" in reason for reason in undo.blockers)
            assert (
                set(here.applier().kafka.shapes(own)) == set(own)
                and (here.folder / "state").exists()
            )
            assert committed(here.applier(), app) == before
            undone += 1
        else:
            assert any(f"keep {has + 1} partitions: {orders}" in why for why in undo.blockers)
        here.execute(run, plan)
        assert here.applier().kafka.identities([orders])[orders][1] == has + 1
        now = committed(here.applier(), app)
        assert {p: c.offset for p, c in now.items()} == {(orders, n): 0 for n in range(has + 1)}
        assert here.applier().kafka.shapes(own) == {} and not (here.folder / "state").exists()
        if not crashed:
            break
    assert at == 14 and undone == 5
