"""Bounded run: what it asks, its steps on every engine, and what stands in its way."""

from dataclasses import replace

import pytest

from headgate.errors import ScenarioError
from headgate.model.cluster import Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.kafka_streams import StreamsApplication, StreamsSource
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import SnapshotSize
from headgate.model.version import Engine, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.shared import processing_mode
from headgate.reprocess.steps import load_step
from support.flat_ports import FlatPorts

COMMANDS = Commands(start="run", stop="halt", status="ask", suspend="hold", reenable="free")
KAFKA = SourcePosition(name="0", kind=SourceKind.KAFKA, offsets={"orders": {0: 40, 1: 10}})


class World(FlatPorts):
    """One registered pipeline that has read 50 of 120 records of `orders`."""

    def __init__(self, engine, **fields):
        given = {"entry_point": "m:f", "checkpoint": "/ck"} if engine is Engine.SPARK else {}
        given |= {"group": "app"} if engine is not Engine.SPARK else {}
        self.pipeline = Pipeline(name="p", engine=engine, commands=COMMANDS, **(given | fields))
        self.sources = (KAFKA,)
        self.found = Checkpoint(location="/ck", query_id="q", last_commit_batch=3)
        self.type = GroupType.CLASSIC
        self.offsets = {("orders", 0): 40, ("orders", 1): 10}
        self.members = ()
        self.runs_on = "local[*]"
        self.retention_ms, self.begin = None, 0

    def registered(self, name):
        return self.pipeline

    def pipelines(self):
        return (self.pipeline,)

    def place(self, checkpoint):
        return checkpoint

    def read(self, location):
        return self.found

    def query_position(self, location):
        return QueryPosition(batch=3, sources=self.sources)

    def snapshot_size(self, location):
        return SnapshotSize(bytes=10, copied=2, files=3)

    def status(self, name):
        return Status.RUNS

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c"

    def master(self):
        return self.runs_on

    def topic_names(self):
        return frozenset({"orders", "orders-new", "others", "cities"})

    def topics(self, names):
        parts = (
            Partition(number=0, begin=self.begin, end=90),
            Partition(number=1, begin=0, end=30),
        )
        facts = {"partitions": parts, "retention_ms": self.retention_ms}
        return {n: Topic(name=n, id="1", **facts) for n in names}

    def first_at(self, parts, at):
        # Kafka's records are old, and partition 0 has the older ones.
        assert parts == {("orders", 0): 40, ("orders", 1): 10}
        return {("orders", 0): None, ("orders", 1): 0}

    def group(self, name):
        offsets = tuple(GroupOffset(topic=t, partition=p, offset=o)
                        for (t, p), o in self.offsets.items())  # fmt: skip
        return Group(id=name, type=self.type, state="stable", members=self.members, offsets=offsets)


def actions(plan):
    return [step.action for step in plan.steps]


def test_spark_keeps_the_checkpoint_runs_to_the_bound_and_stays_stopped():
    plan = build_plan("bounded", "p", World(Engine.SPARK), {"max-records": 500, "time-limit": 60})
    assert plan.can_apply, plan.blockers
    assert actions(plan) == ["stop_pipeline", "back_up_checkpoint", "run_bounded"]
    run = plan.steps[-1]
    told = run.details()
    asked = {"entry_point": "m:f", "query_id": "q", "max_records": 500, "time_limit": 60}
    assert {name: told[name] for name in asked} == asked
    assert load_step(run.action, told) == run
    assert plan.impact["to_read"] == {"orders": 70} and plan.impact["total"] == 0
    assert "restarts stay suspended" in " ".join(plan.risks)
    assert not any("first batch" in risk for risk in plan.risks)
    assert all(step.undoable for step in plan.steps)


def test_a_first_batch_without_a_limit_is_a_risk_with_its_size():
    world = World(Engine.SPARK)
    (said,) = [r for r in build_plan("bounded", "p", world).risks if "first batch" in r]
    assert "contains all records to process (now 70)" in said
    assert said.endswith("Set this option in the query, or pass --max-records")
    world.sources = (replace(KAFKA, offsets={"orders": {0: 90, 1: 30}}),)
    assert not any("first batch" in r for r in build_plan("bounded", "p", world).risks)


def test_a_rate_limit_bounds_the_first_batch_too():
    plan = build_plan("bounded", "p", World(Engine.SPARK), {"rate": 7})
    run = plan.steps[-1]
    assert run.details()["rate"] == 7 and "(at most 7 records/s)" in run.describe()
    assert load_step(run.action, run.details()) == run
    (said,) = [r for r in plan.risks if "records/s" in r]
    assert "at most 7 records/s: a batch has at most 10 seconds' worth of records" in said
    assert "with this rate limit, the run takes at least 10 s" in plan.risks
    assert not any("first batch" in risk for risk in plan.risks)
    with pytest.raises(ScenarioError, match="--rate: expected 1 or more, found 0"):
        build_plan("bounded", "p", World(Engine.SPARK), {"rate": 0})


@pytest.mark.parametrize("scenario", ["bounded", "incremental"])
@pytest.mark.parametrize("engine", Engine)
def test_unread_records_that_expire_soon_are_a_risk(engine, scenario):
    world = World(engine)
    world.retention_ms = 1000
    options = {"every": "1h"} if scenario == "incremental" else {}
    plan = build_plan(
        scenario, "p", world, options, version=Version(engine=engine), schedule=lambda _name: None
    )
    assert any("orders keeps records for 1 s. At any time, Kafka" in r for r in plan.risks)


def test_the_load_on_the_brokers_is_named(monkeypatch):
    monkeypatch.setattr(processing_mode, "MANY", 70)
    plan = build_plan("bounded", "p", World(Engine.SPARK))
    assert any("up to 70 records from the brokers as fast as Spark" in r for r in plan.risks)


@pytest.mark.parametrize("engine", Engine)
def test_unread_records_that_expired_are_lost_and_not_counted(engine):
    world = World(engine)
    world.begin = 60
    plan = build_plan("bounded", "p", world, version=Version(engine=engine))
    assert plan.impact["to_read"] == {"orders": 50}
    (said,) = [r for r in plan.risks if r.startswith("Kafka has deleted")]
    assert said.startswith("Kafka has deleted up to 20 records of orders that weren't processed. ")
    is_spark = engine is Engine.SPARK
    assert ("failOnDataLoss" if is_spark else "p starts at the offset that its auto.offset") in said
    world.begin = 40
    assert not any("has deleted" in r for r in build_plan("bounded", "p", world).risks)


def test_another_master_is_named_and_a_precondition():
    world = World(Engine.SPARK)
    world.runs_on = "spark://h:7077"
    plan = build_plan("bounded", "p", world)
    assert plan.preconditions["master"] == "spark://h:7077"
    assert any("executors must be able to import" in risk for risk in plan.risks)


@pytest.mark.parametrize("engine", [Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS])
def test_a_group_runs_to_the_bound_by_its_commands(engine):
    plan = build_plan("bounded", "p", World(engine), {"start-after": True})
    assert plan.can_apply, plan.blockers
    is_streams = engine is Engine.KAFKA_STREAMS
    keep = "record_offsets" if is_streams else "back_up_offsets"
    assert actions(plan) == ["stop_pipeline", keep, "run_to_offsets", "start_pipeline"]
    run = plan.steps[2]
    told = run.details()
    assert told["drains"] is is_streams
    moves = [(m["partition"], m["from"], m["to"]) for m in told["offsets"]]
    assert moves == [(0, 40, 90), (1, 10, 30)]
    assert load_step(run.action, told) == run
    assert plan.impact["to_read"] == {"orders": 70}


def test_internal_topics_of_an_application_are_no_inputs():
    world = World(Engine.KAFKA_STREAMS)
    world.offsets[("app-by-city-repartition", 0)] = 3
    plan = build_plan("bounded", "p", world)
    assert set(plan.steps[2].details()["topics"]) == {"orders"}


def test_a_partition_without_an_offset_is_a_risk():
    world = World(Engine.CONSUMER_GROUP)
    del world.offsets[("orders", 1)]
    risks = " ".join(build_plan("bounded", "p", world).risks)
    assert "no committed offset: orders[1]. There," in risks


def application(*sources):
    facts = StreamsApplication(described=True, sources=sources)
    return Version(engine=Engine.KAFKA_STREAMS, streams=facts)


@pytest.mark.parametrize("pattern", [r"\Qord\E.*", "ord.*"])
def test_new_topics_of_a_pattern_are_processed_too(pattern):
    """Nobody has committed an offset of them yet."""
    world = World(Engine.KAFKA_STREAMS)
    version = application(
        StreamsSource(processor="s", pattern=pattern),
        StreamsSource(processor="c", topics=("cities",)),
    )
    plan = build_plan("bounded", "p", world, version=version)
    assert plan.can_apply, plan.blockers
    assert plan.impact["to_read"] == {"cities": 120, "orders": 70, "orders-new": 120}
    assert set(plan.steps[2].details()["topics"]) == {"cities", "orders", "orders-new"}
    assert "no committed offset: cities[0], cities[1], orders-new[0]" in " ".join(plan.risks)


def test_a_pattern_that_only_java_understands_is_a_risk():
    version = application(StreamsSource(processor="s", pattern=r"ord\p{IsLatin}*"))
    plan = build_plan("bounded", "p", World(Engine.KAFKA_STREAMS), version=version)
    assert plan.impact["to_read"] == {"orders": 70}
    assert any("doesn't wait for topics without committed" in risk for risk in plan.risks)


@pytest.mark.parametrize("engine", [Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS])
def test_offsets_of_topics_that_are_no_longer_read_are_named(engine):
    """Kafka keeps them for days: the run would wait for them for ever."""
    world = World(engine, topics=("orders",))
    world.offsets[("old", 0)] = 2
    plan = build_plan("bounded", "p", world)
    assert plan.can_apply, plan.blockers
    assert plan.impact["to_read"] == {"orders": 70}
    assert any("group app has committed offsets of old, but" in risk for risk in plan.risks)
    world.members = (Member(id="m", assignment=(("old", 0), ("orders", 0))),)
    assert "members of group app read old, but" in blockers(world)
    world = World(engine)
    world.offsets[("old", 0)] = 2
    unset = build_plan("bounded", "p", world)
    assert set(unset.impact["to_read"]) == {"old", "orders"}, "nothing says that it isn't read"


def test_a_topic_that_the_topology_does_not_name_is_no_input():
    world = World(Engine.KAFKA_STREAMS)
    world.offsets[("old", 0)] = 2
    version = application(StreamsSource(processor="s", topics=("orders",)))
    plan = build_plan("bounded", "p", world, version=version)
    assert plan.impact["to_read"] == {"orders": 70}
    assert any("of old, but the topology doesn't have" in risk for risk in plan.risks)


def blockers(world, **options):
    return " ".join(build_plan("bounded", "p", world, options).blockers)


def test_what_stands_in_its_way():
    assert "no `entry_point`" in blockers(World(Engine.SPARK, entry_point=None))
    world = World(Engine.SPARK)
    world.sources = (KAFKA, SourcePosition(name="1", kind=SourceKind.FILES))
    assert "sources that aren't Kafka: source 1" in blockers(world)
    world.found = replace(world.found, remote=True)
    assert "is remote" in blockers(world)
    world.found = None
    assert "not found" in blockers(world)
    world = World(Engine.CONSUMER_GROUP)
    world.pipeline = replace(world.pipeline, commands=Commands(stop="halt"))
    assert "has no start command" in blockers(world)
    world = World(Engine.CONSUMER_GROUP)
    world.type = GroupType.STREAMS
    assert "is of type streams" in blockers(world)
    world = World(Engine.CONSUMER_GROUP)
    world.offsets = {}
    assert "has no committed offsets" in blockers(world)


def test_a_limit_of_nothing_is_an_error():
    with pytest.raises(ScenarioError, match="--time-limit: expected 1 or more, found 0"):
        build_plan("bounded", "p", World(Engine.SPARK), {"time-limit": 0})
