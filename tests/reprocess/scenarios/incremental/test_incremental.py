"""Scheduled runs: what is approved, what stands in the way, and what an undo restores."""

from dataclasses import replace

import pytest

from headgate.errors import ScenarioError, StepError
from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.schedules import Missed, Schedule, StoredSchedule
from headgate.model.version import Engine, Sink, Version
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenario import no_version
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.process.set_schedule import RestoreSchedule, SetSchedule
from headgate.text.numbers import exact
from reprocess.scenarios.bounded.test_bounded import World as BoundedWorld
from support.flat_ports import FlatPorts


class World(FlatPorts):
    """A registered group that has read 50 of 120 records, and its schedule."""

    run = "r1"

    def __init__(self):
        commands = Commands(start="run", stop="halt", status="ask")
        self.pipeline = Pipeline(
            name="p", engine=Engine.CONSUMER_GROUP, group="app", commands=commands
        )
        self.end, self.parts, self.kept = 90, 2, None

    def registered(self, name):
        return self.pipeline

    def pipelines(self):
        return (self.pipeline,)

    def status(self, name):
        return Status.RUNS

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c"

    def topics(self, names):
        parts = [Partition(number=0, begin=0, end=self.end), Partition(number=1, begin=0, end=30)]
        return {n: Topic(name=n, id="1", partitions=tuple(parts[: self.parts])) for n in names}

    def group(self, name):
        offsets = (GroupOffset(topic="orders", partition=0, offset=40),
                   GroupOffset(topic="orders", partition=1, offset=10))  # fmt: skip
        return Group(id=name, type=GroupType.CLASSIC, state="stable", members=(), offsets=offsets)

    def schedule(self, pipeline):
        return self.kept

    def put(self, schedule):
        self.kept = stored(schedule, run=self.run)

    def restore(self, pipeline, before):
        self.kept = before


def stored(schedule, run="r0"):
    at = "2026-11-21T10:00:00.000+00:00"
    return StoredSchedule(
        schedule=schedule, run=run, created_at=at, created_by="ann", counted_to=at
    )


def plan(world, version=None, versions=no_version, **options):
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return build_plan(
        "incremental",
        "p",
        world,
        given,
        version=version,
        versions=versions,
        schedule=world.schedule,
    )


def test_the_plan_shows_the_schedule_and_all_that_its_runs_do():
    world = World()
    made = plan(world, every="15m", missed="skip", max_run_records=1000, time_limit=60)
    assert made.can_apply, made.blockers
    (step,) = made.steps
    assert step.describe() == (
        "set schedule of p: none -> every 15 minutes; no run for missed ticks of the schedule, "
        f"at most {exact(1000)} records, 1 minute per run"
    )
    assert load_step(step.action, step.details()) == step
    schedule = step.schedule
    assert (schedule.every, schedule.missed) == (900, Missed.SKIP)
    assert schedule.options == {"time-limit": 60}
    bounded = build_plan("bounded", "p", world, {"time-limit": 60})
    assert schedule.approved["hash"] == bounded.hash
    assert made.preconditions == {**bounded.preconditions, "schedule": "none"}
    assert made.impact["to_read"] == {"orders": 70}
    assert made.resources == ("schedule:p",)
    assert any("approves the runs of all ticks" in risk for risk in made.risks)
    assert set(bounded.risks) <= set(made.risks)


def test_the_runs_of_a_spark_query_keep_to_the_rate_limit():
    world = BoundedWorld(Engine.SPARK)
    made = build_plan("incremental", "p", world, {"every": "1h", "rate": 7, "max-records": 50})
    bounded = build_plan("bounded", "p", world, {"rate": 7, "max-records": 50})
    schedule = made.steps[0].details()["schedule"]
    assert schedule["options"] == {"rate": 7, "max-records": 50}
    assert schedule["approved"]["hash"] == bounded.hash
    assert "with this rate limit, the run takes at least 10 s" in made.risks


def test_what_moves_by_itself_is_not_approved_and_what_is_changed_is():
    world = World()
    before = plan(world, every="15m")
    world.end = 5000
    assert drift(before, plan(world, every="15m")) == ()
    assert before.hash == plan(world, every="15m").hash
    world.parts = 1
    assert drift(before, plan(world, every="15m")) == ("topics: orders partitions was 2, is now 1",)
    world.parts = 2
    commands = replace(world.pipeline.commands, start="run --fast")
    world.pipeline = replace(world.pipeline, commands=commands)
    assert any(
        "start was run, is now run --fast" in s for s in drift(before, plan(world, every="15m"))
    )


def test_the_target_is_part_of_what_is_approved():
    world = World()
    sink = Sink(format="parquet", target="/out")
    version = Version(name="p", engine=Engine.CONSUMER_GROUP, sink=sink)
    (step,) = plan(world, version=version, every="1h").steps
    assert step.schedule.approved["target"] == "parquet /out"
    assert step.describe().endswith(
        "every 1 hour; one run for all missed ticks of the schedule, output: parquet /out"
    )
    (step,) = plan(world, every="1h").steps
    assert step.schedule.approved["target"] is None
    # What runs was observed from its checkpoint, which has a sink without its format.
    seen = replace(version, sink=Sink(format=None))
    (step,) = plan(world, version=seen, versions=lambda _: version, every="1h").steps
    assert step.schedule.approved["target"] == "parquet /out"


def test_another_schedule_is_replaced_and_the_plan_says_so():
    world = World()
    world.kept = stored(Schedule(pipeline="p", cron="0 3 * * *"))
    made = plan(world, when_lag=500)
    assert "cron 0 3 * * * (UTC) -> when lag exceeds 500 records" in made.steps[0].describe()
    before = plan(world, every="1h")
    world.kept = None
    assert drift(before, plan(world, every="1h")) == (
        "schedule: was cron 0 3 * * * (UTC), is now none",
    )


def test_applied_once_verified_and_undone():
    world = World()
    (step,) = plan(world, when_quiet="10m").steps
    was = step.bind(world)
    assert not step.is_applied(world, was)
    step.apply(world, was)
    step.verify(world, was)
    assert step.is_applied(world, was)
    (back,) = step.undo(was)
    assert back.describe() == (
        "remove schedule of p: when inputs get no new records for 10 minutes -> none"
    )
    assert load_step(back.action, back.details()) == back
    assert not back.is_applied(world, {})
    back.apply(world, {})
    back.verify(world, {})
    assert world.kept is None
    world.kept = stored(Schedule(pipeline="p", every=60))
    with pytest.raises(StepError, match="p still has a schedule: another run set it"):
        back.verify(world, {})


def test_an_undo_restores_the_schedule_of_before():
    world = World()
    old = stored(Schedule(pipeline="p", every=60))
    world.kept = old
    (step,) = plan(world, cron="0 * * * *").steps
    was = step.bind(world)
    step.apply(world, was)
    (back,) = step.undo(was)
    assert isinstance(step, SetSchedule) and isinstance(back, RestoreSchedule)
    assert "cron 0 * * * * (UTC) -> every 1 minute" in back.describe()
    loaded = load_step(back.action, back.details())
    loaded.apply(world, {})
    loaded.verify(world, {})
    assert world.kept == old


def test_what_stands_in_the_way_of_a_bounded_run_stands_in_the_schedules():
    world = World()
    world.pipeline = replace(world.pipeline, commands=Commands(start="run"))
    found = plan(world, every="1h")
    assert not found.can_apply and "no stop command" in found.blockers[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs a schedule"),
        ({"every": "1h", "cron": "0 * * * *"}, "not both"),
        ({"cron": "0 * * *"}, "--cron: '0 \\* \\* \\*' isn't a cron expression"),
        ({"every": "0s"}, "--every: expected 1 second or more"),
        ({"every": "3000000d"}, "--every: expected 3660 days or less, found '3000000d'"),
        ({"when_quiet": "3661d"}, "--when-quiet: expected 3660 days or less"),
        ({"cron": "R * * * *"}, "random"),
        ({"when_quiet": "soon"}, "--when-quiet: expected a duration"),
        ({"when_lag": -1}, "--when-lag: expected 0 or more"),
        ({"every": "1h", "max_run_records": 0}, "--max-run-records: expected 1 or more"),
        ({"every": "1h", "missed": "twice"}, "one of once, skip, all"),
    ],
)
def test_wrong_options_are_named(options, said):
    with pytest.raises(ScenarioError, match=said):
        plan(World(), **options)
