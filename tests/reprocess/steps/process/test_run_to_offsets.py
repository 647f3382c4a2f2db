"""A group runs until its commits are at the latest offsets of the step's start, and is stopped."""

from dataclasses import replace

import pytest

from headgate.errors import RunCancelledError, StepError
from headgate.model.cluster import Group, GroupOffset, Member, Partition, Topic
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.steps.process.run_to_offsets import RunToOffsets
from support.flat_ports import FlatPorts

STEP = RunToOffsets(
    pipeline="p",
    group="g",
    topics={"t": {"id": "1", "partitions": 2}},
    start="run",
    stop="halt",
    has_status=True,
)


class World(FlatPorts):
    """A group that commits so many offsets of each partition whenever time passes."""

    run = "r1"

    def __init__(self, step=STEP, speed=10, readable=(100, 50)):
        self.commands = Commands(start="run", stop="halt", status="ask")
        self.pipeline = Pipeline(
            name="p", engine="consumer-group", group="g", commands=self.commands
        )
        self.step, self.speed, self.readable = step, speed, readable
        self.at, self.ends = {0: 5, 1: None}, {0: 100, 1: 50}
        self.begin, self.assigned, self.stuck = 0, (), None
        self.is_up, self.asked, self.notes, self.counts = False, [], [], []
        self.ends_at = self.cancel_at = None

    def registered(self, name):
        return self.pipeline

    def status(self, name):
        return Status.RUNS if self.is_up else Status.STOPPED

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def command(self, name, word, message=""):
        self.asked.append(word)
        if word in ("start", "stop"):
            self.is_up = word == "start"

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=self.begin, end=e) for n, e in self.ends.items())
        return {"t": Topic(name="t", id="1", partitions=parts)}

    def identities(self, names):
        return {"t": ("1", 2)}

    def group(self, name):
        offsets = tuple(GroupOffset(topic="t", partition=n, offset=o) for n, o in self.at.items())
        members = (Member(id="m", assignment=self.assigned),) if self.is_up else ()
        return Group(
            id="g", state="stable" if members else "empty", members=members, offsets=offsets
        )

    def first_records(self, ranges):
        assert all(at >= self.begin for at, _ in ranges.values()), "Offset out of range"
        return {p: at for p, (at, end) in ranges.items() if at < min(end, self.readable[p[1]])}

    def pause(self, seconds):
        if self.cancel_at is not None and (self.at[0] or 0) >= self.cancel_at:
            raise RunCancelledError("cancelled")
        if not self.is_up:
            return
        for n, at in self.at.items():
            if n != self.stuck:
                self.at[n] = min((at or 0) + self.speed, self.readable[n])
            self.ends[n] += 7  # a producer that goes on
        self.is_up = self.ends_at is None or self.at[0] < self.ends_at

    def note(self, message):
        self.notes.append(message)

    def progress(self, done, total, unit):
        self.counts.append((done, total, unit))

    def carry_out(self, was=None):
        was = was or self.step.bind(self)
        self.step.apply(self, was)
        self.step.verify(self, was)
        return was


def test_it_starts_waits_for_the_bound_and_stops():
    world = World(readable=(10_000, 10_000))
    was = world.carry_out()
    assert was["bounds"] == [["t", 0, 100], ["t", 1, 50]]
    assert world.asked == ["start", "stop"] and not world.is_up
    assert world.at[0] == 105, "it stopped as soon as the bound was reached"
    assert world.counts[-3:] == [
        (145, 145, "records"),
        (95, 95, "records of t[0]"),
        (50, 50, "records of t[1]"),
    ]
    assert world.notes == [
        "group g has processed all records that existed at the start of the run: "
        "t[0] at committed offset 105, end offset 100; t[1] at committed offset 100, end offset 50"
    ]


def test_markers_and_gaps_before_the_bound_count_as_read():
    world = World(readable=(97, 50))
    world.carry_out()
    assert world.at[0] == 97 and world.asked == ["start", "stop"]


def test_records_that_are_left_do_not_count_as_read():
    world = World(speed=0, readable=(100, 50))
    world.cancel_at, world.step = None, RunToOffsets(**{**STEP.details(), "time_limit": 1})
    was = world.step.bind(world) | {"began": 0}
    world.is_up = True
    with pytest.raises(
        RunCancelledError,
        match=r"the time limit of 1 s was reached .t\[0\] at committed offset 5, end offset 100",
    ):
        world.carry_out(was)
    assert world.asked == ["stop"] and not world.is_up


def test_nothing_to_read_starts_nothing():
    world = World()
    world.at = {0: 100, 1: 50}
    world.carry_out()
    assert "start" not in world.asked


def test_a_pipeline_that_ends_before_the_bound_fails_the_step():
    world = World()
    world.ends_at = 30
    with pytest.raises(
        StepError,
        match=r"p ended before group g reached .*t\[0\] at committed offset 35, end offset 100",
    ):
        world.carry_out()


def test_a_partition_that_no_member_reads_fails_the_step_and_stops_the_pipeline():
    """Offsets of a topic that the pipeline no longer reads stay committed for days."""
    world = World()
    world.assigned, world.stuck = (("t", 0),), 1
    with pytest.raises(StepError, match=r"no member of group g reads .* t\[1\] with no committed"):
        world.carry_out()
    assert world.asked == ["start", "stop"] and not world.is_up


def test_a_cancel_stops_the_pipeline():
    world = World(speed=1)
    world.cancel_at = 20
    with pytest.raises(RunCancelledError, match="cancelled"):
        world.carry_out()
    assert world.asked[:2] == ["start", "stop"] and not world.is_up


def test_after_a_crash_the_bound_is_the_journalled_one():
    world = World(readable=(10_000, 10_000))
    was = world.step.bind(world)
    world.command("p", "start")
    for _ in range(3):
        world.pause(1)
    world.asked.clear()
    world.carry_out(was)
    assert world.asked == ["stop"] and world.at[0] == 105


def test_records_that_retention_has_deleted_are_not_asked_for():
    world = World(readable=(10_000, 10_000))
    world.begin = 40
    world.carry_out()
    assert world.asked == ["start", "stop"] and world.at[1] >= 50


REPARTITION = "g-by-city-repartition"


class Streams(World):
    """An application that passes records on; it reads its repartition topic while it runs."""

    def __init__(self, at=100, read=30, written=40):
        super().__init__(RunToOffsets(**{**STEP.details(), "drains": True}))
        self.at, self.read, self.written, self.drains = {0: at, 1: 50}, read, written, True

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=self.written),)
        inner = Topic(name=REPARTITION, id="2", partitions=parts)
        return {
            n: inner if n == REPARTITION else super(Streams, self).topics([n])[n] for n in names
        }

    def group(self, name):
        found = super().group(name)
        inner = GroupOffset(topic=REPARTITION, partition=0, offset=self.read)
        return replace(found, offsets=(*found.offsets, inner))

    def first_records(self, ranges):
        inner = {p: at for p, (at, end) in ranges.items() if p[0] == REPARTITION and at < end}
        return inner | super().first_records({p: r for p, r in ranges.items() if p[0] == "t"})

    def pause(self, seconds):
        super().pause(seconds)
        if self.is_up and self.drains:
            self.read = min(self.read + 5, self.written)


@pytest.mark.parametrize("is_up", [True, False])
def test_a_resumed_run_drains_what_its_killed_worker_did_not_wait_for(is_up):
    world = Streams()
    was = world.step.bind(world)
    world.is_up = is_up
    world.carry_out(was)
    assert world.read == 40 and not world.is_up
    assert world.asked == (["stop"] if is_up else ["start", "stop"])


def test_a_first_run_without_lag_drains_repartition_topics():
    world = Streams()
    world.carry_out()
    assert (world.read, world.asked) == (40, ["start", "stop"])


def test_nothing_in_repartition_topics_starts_nothing():
    world = Streams(read=40)
    world.carry_out()
    assert "start" not in world.asked


def test_unread_repartition_topics_fail_the_verification():
    world = Streams()
    was = world.step.bind(world)
    with pytest.raises(
        StepError, match=rf"to the end \({REPARTITION}\[0\] at committed offset 30, end offset 40\)"
    ):
        world.step.verify(world, was)


def test_later_records_in_repartition_topics_are_not_part_of_the_run():
    world = Streams()
    was = world.step.bind(world)
    world.at[0] = 105
    world.step.verify(world, was)
    assert "also read records that arrived after" in world.notes[0]
    assert "committed offset 30, end offset 40" in world.notes[0]
