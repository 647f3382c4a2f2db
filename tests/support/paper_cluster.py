"""A Kafka cluster on paper with one Kafka Streams application, and plans that are built on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.kafka_streams import (
    Repartition,
    StreamsApplication,
    StreamsSink,
    StreamsSource,
    StreamsStore,
)
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from support.flat_ports import FlatPorts

APP = "shop"
TOPICS = ("in", "out", "loop", "shop-counts-changelog", "shop-g-repartition")
FACTS = StreamsApplication(
    described=True,
    stores=(StreamsStore(name="counts", changelog="counts-changelog"),),
    repartitions=(Repartition(name="g-repartition", topic="g-repartition"),),
    sources=(StreamsSource(processor="s", topics=("in",)),),
    sinks=(StreamsSink(processor="o", topic="out"),),
)
LOOPING = replace(
    FACTS,
    sources=(*FACTS.sources, StreamsSource(processor="l", topics=("loop",))),
    sinks=(*FACTS.sinks, StreamsSink(processor="l2", topic="loop")),
)


def group(group_id=APP, state="empty", kind=GroupType.CLASSIC, members=(), **offsets):
    found = tuple(
        GroupOffset(topic=topic.replace("_", "-"), partition=0, offset=at)
        for topic, at in offsets.items()
    )
    return Group(id=group_id, type=kind, state=state, members=members, offsets=found)


@dataclass
class PaperCluster(FlatPorts):
    """`shop` has read 4 of 10 records; nobody else is there unless a test says so."""

    names: tuple[str, ...] = TOPICS
    known: dict = field(default_factory=lambda: {APP: group(**{"in": 4, "shop_g_repartition": 3})})
    commands: Commands = Commands()
    others: tuple[Pipeline, ...] = ()
    ends: int = 10
    locked: frozenset[str] = frozenset()

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c-1"

    def topics(self, names):
        part = Partition(number=0, begin=0, end=self.ends)
        return {
            n: Topic(name=n, id=f"id-{n}", partitions=(part,)) for n in names if n in self.names
        }

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=f"id-{n}", partitions=1, replication=1)
            for n in names
            if n in self.names
        }

    def topics_in_transaction(self, names):
        return tuple(sorted(self.locked & set(names)))

    def topic_names(self):
        return frozenset(self.names)

    def groups(self):
        return self.known

    def group(self, group_id):
        return self.known.get(group_id, group(group_id, state="dead"))

    def topic_consumers(self, names):
        return {}

    def topic_bytes(self, names):
        return dict.fromkeys(names, 100)

    def first_at(self, parts, at):
        return dict.fromkeys(parts, 7)

    def status(self, pipeline):
        return Status.STOPPED

    def pipelines(self):
        return (self.registered(APP), *self.others)

    def registered(self, pipeline):
        return Pipeline(name=APP, engine=Engine.KAFKA_STREAMS, group=APP, commands=self.commands)


class PaperRun(PaperCluster):
    run = "r-1"


def version(facts=FACTS):
    return Version(engine=Engine.KAFKA_STREAMS, streams=facts)


def scratch(inspector=None, facts=FACTS, **options):
    return build_plan(
        "from-scratch", APP, inspector or PaperCluster(), options, version=version(facts)
    )


def reset(inspector=None, facts=None, **options):
    told = version(facts) if facts else None
    return build_plan("reset", APP, inspector or PaperCluster(), options, version=told)


def actions(plan):
    return [step.action for step in plan.steps]


def step(plan, action):
    return next(s.details() for s in plan.steps if s.action == action)
