"""The steps of an online upgrade of groups: offsets, lag, waiting, and what an undo deletes."""

from dataclasses import replace

import pytest

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.output_comparison import ComparedColumn, OutputComparison
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.steps.upgrade.compare_versions import (
    AwaitEqualLag,
    AwaitOldVersion,
    CompareVersions,
)
from headgate.reprocess.steps.upgrade.copy_offsets import CopyOffsets, SwitchOffsets
from headgate.reprocess.steps.upgrade.drop_application import DropApplication
from headgate.reprocess.steps.upgrade.group_positions import Version, latest, wait_until_read
from headgate.reprocess.steps.upgrade.start_with_output import StartWithOutput
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion
from support.flat_ports import FlatPorts

TOPICS = {"in": {"id": "1", "partitions": 2}}
BOTH = {"pipeline": "p", "group": "old", "new": "p2", "new_group": "new", "topics": TOPICS}
COPY = {"pipeline": "p2", "group": "new", "source": "old", "topics": TOPICS}
SWITCH = {**COPY, "old": "p"}
EQUAL = OutputComparison(
    a="a", b="b", equal=True, rows_a=3, rows_b=3, missing=0, extra=0, different=0,
    columns=(), samples=(), keys=("id",),
)  # fmt: skip


class World(FlatPorts):
    """Two groups on `in`; `moves` are called at each pause, `at` are committed offsets."""

    run = "r"

    def __init__(self):
        self.at = {"old": {("in", 0): 30, ("in", 1): 5}, "new": {("in", 0): 20}}
        self.ends = {"in": [40, 5], "out": [9], "shadow": [7]}
        self.states = {"p": Status.STOPPED, "p2": Status.STOPPED}
        self.filled, self.moves, self.notes, self.done = None, [], [], []
        self.compared, self.kept, self.clean = EQUAL, {}, None
        self.names, self.readers, self.assigned = set(), {}, ()

    def pause(self, seconds):
        if self.moves:
            self.moves.pop(0)()

    def note(self, text):
        self.notes.append(text)

    def progress(self, *_):
        pass

    def pipelines(self):
        return tuple(self.registered(n) for n in ("p", "p2"))

    def registered(self, name):
        commands = Commands(start="run", stop="halt", status="ask", clean=self.clean)
        group = {"p": "old", "p2": "new"}[name]
        return Pipeline(name=name, engine=Engine.CONSUMER_GROUP, group=group, commands=commands)

    def status(self, name):
        return self.states[name]

    def driver_status(self, name):
        return DriverStatus(Status.UNKNOWN)

    def read(self, location):
        return None

    def group(self, name):
        offsets = tuple(
            GroupOffset(topic=t, partition=p, offset=o)
            for (t, p), o in sorted(self.at.get(name, {}).items())
        )
        members = (Member(id="m", assignment=self.assigned),) if self.assigned else ()
        state = "stable" if members else "empty" if offsets else "dead"
        return Group(id=name, type=GroupType.CLASSIC, state=state, members=members, offsets=offsets)

    def groups(self):
        return {name: self.group(name) for name in self.at}

    def topic_names(self):
        return frozenset(self.names)

    def topics(self, names):
        return {
            n: Topic(
                name=n,
                id="1",
                partitions=tuple(
                    Partition(number=p, begin=3, end=end) for p, end in enumerate(self.ends[n])
                ),
            )
            for n in names
            if n in self.ends
        }

    def identities(self, names):
        return {n: (t.id, len(t.partitions)) for n, t in self.topics(names).items()}

    def topic_consumers(self, names):
        return dict.fromkeys(names, self.readers)

    def shapes(self, names):
        return {
            n: TopicShape(name=n, id=n, partitions=1, replication=1)
            for n in names
            if n in self.names
        }

    def first_records(self, ranges):
        """All offsets are records, unless `filled` says which."""
        return {
            part: begin
            for part, (begin, end) in ranges.items()
            if self.filled is None or any(begin <= o < end for o in self.filled)
        }

    def alter_offsets(self, group, offsets):
        self.at.setdefault(group, {}).update({(o.topic, o.partition): o.offset for o in offsets})

    def delete_offsets(self, group, parts):
        for part in parts:
            del self.at[group][part]

    def delete_topic(self, shape):
        self.names.discard(shape.name)

    def delete_group(self, group):
        self.at.pop(group)

    def command(self, pipeline, word, message="", output=""):
        self.done.append((pipeline, word, output))

    def compare_records(self, a, b, **match):
        self.asked = (a, b, match)
        return self.compared

    def snapshot_folder(self):
        return "/runs/r"

    def write_record(self, path, text):
        self.kept[path] = text


def carry_out(step, world):
    step.check(world)
    was = step.bind(world)
    step.apply(world, was)
    step.verify(world, was)
    return was


def test_a_group_begins_where_the_other_one_is_and_the_undo_leaves_what_was():
    world = World()
    world.at["new"]["in", 1] = 99
    del world.at["old"]["in", 1]
    step = CopyOffsets(**COPY)
    was = carry_out(step, world)
    # Nothing is committed for partition 1 of the old group, so nothing may be for the new one.
    assert world.at["new"] == {("in", 0): 30}
    assert step.is_applied(world, was)
    (back,) = step.undo(was)
    carry_out(back, world)
    assert world.at["new"] == {("in", 0): 20, ("in", 1): 99}


def test_an_application_begins_at_the_earliest_offsets():
    world = World()
    world.at["new"] = {}
    step = CopyOffsets(**COPY, earliest=True, application=True)
    was = carry_out(step, world)
    assert world.at["new"] == {("in", 0): 3, ("in", 1): 3}
    assert step.undo(was) == (DropApplication(pipeline="p2", group="new"),)
    world.states["p2"] = Status.RUNS
    with pytest.raises(RefusedError, match="p2 must stay stopped"):
        step.check(world)


def test_the_switch_sets_a_group_to_exactly_the_old_offsets_and_says_what_may_come_twice():
    world = World()
    world.at["new"] = {("in", 0): 35, ("in", 1): 5}
    step = SwitchOffsets(**SWITCH)
    was = carry_out(step, world)
    assert world.at["new"] == {("in", 0): 30, ("in", 1): 5}
    assert "committed offsets are up to 10 records before the latest offsets" in world.notes[-1]
    step._tell(world, latest(world, ["in"]), {})
    assert world.notes[-1] == "p has stopped. Its committed offsets are the latest offsets"
    replace(step, has_state=True)._tell(world, {}, {})
    assert world.notes[-1].startswith("p processed no records after p2 had stopped, so consumers")
    world.at["new"]["in", 0] = 38
    (back,) = step.undo(was)
    assert (
        "the results of up to 8 records twice, because p2 has processed them since the switch"
        in back.risks(world)[0]
    )
    world.at["new"]["in", 0] = 30
    assert "has processed no records since the switch, so" in back.risks(world)[0]
    world.at["new"]["in", 0] = 38
    # Steps that move offsets list them from and to; this one moves none.
    assert "offsets" not in back.details()
    carry_out(back, world)
    assert "p reprocesses up to 8 records that p2" in world.notes[-1]
    assert world.at["new"]["in", 0] == 38


def test_an_application_keeps_its_offsets_and_must_not_be_after_the_old_ones():
    world = World()
    world.at["new"] = {("in", 0): 26, ("in", 1): 4}
    step = SwitchOffsets(**SWITCH, has_state=True)
    was = carry_out(step, world)
    assert world.at["new"] == {("in", 0): 26, ("in", 1): 4}
    assert "the results of up to 5 records twice" in world.notes[-1]
    # What an application has passed on to itself is not in its results yet.
    own, others = "new-by-key-repartition", "old-by-key-repartition"
    world.names, world.ends = {own, others}, {**world.ends, own: [9], others: [7]}
    world.at["new"][own, 0] = 7
    step.apply(world, was)
    assert "the results of up to 7 records twice" in world.notes[-1]
    world.at["new"]["in", 0] = 36
    (back,) = step.undo(was)
    assert "the results of up to 10 records twice" in back.risks(world)[0]
    world.at["new"]["in", 0] = 31
    with pytest.raises(
        RefusedError, match=r"already read past the offsets at which p stopped: in\[0\]"
    ):
        carry_out(step, world)
    world.states["p"] = Status.RUNS
    with pytest.raises(RefusedError, match="p must stay stopped"):
        step.check(world)


def test_waiting_ends_at_the_last_record_and_not_at_a_marker_of_a_transaction():
    world = World()
    world.states["p"], world.filled = Status.RUNS, {38}
    world.moves = [lambda: None] * 9 + [lambda: world.at["old"].update({("in", 0): 39})]
    wait_until_read(world, Version("p", "old"), {("in", 0): 40, ("in", 1): 5})
    assert not world.moves
    world.at["old"]["in", 0] = 30
    world.states["p"] = Status.STOPPED
    with pytest.raises(RefusedError, match="p ended before it had processed all records"):
        wait_until_read(world, Version("p", "old"), {("in", 0): 40})
    world.states["p"] = Status.RUNS
    with pytest.raises(RefusedError, match=r"has not caught up on in\[0\] after"):
        wait_until_read(world, Version("p", "old"), {("in", 0): 40})


def test_a_partition_that_no_member_reads_is_not_a_matter_of_resources():
    world = World()
    world.states["p2"] = Status.RUNS
    world.first_records = lambda ranges: dict.fromkeys(ranges, 5)
    world.assigned = (("in", 0),)
    world.at["new"] = {("in", 0): 40}
    with pytest.raises(RefusedError, match=r"no member of group new reads in\[1\]. Both versions"):
        wait_until_read(world, Version("p2", "new"), {("in", 0): 40, ("in", 1): 5})


def test_a_version_without_records_in_what_its_members_read_is_verified():
    world = World()
    world.states["p2"] = Status.RUNS
    world.at["new"] = {("in", 0): 40, ("in", 1): 3}
    step = VerifyVersion(pipeline="p2", group="new")
    world.assigned = (("in", 0),)
    step.apply(world, {})
    assert world.notes == [
        "group new has members, and no unread records in the partitions that they read"
    ]
    world.assigned = (("in", 0), ("in", 1))
    with pytest.raises(StepError, match="group new has committed no new offsets after 600 s"):
        step.apply(world, {})


def test_an_application_is_done_only_when_its_repartition_topics_are_read():
    world = World()
    own = "old-by-key-repartition"
    # Nothing is committed for it yet; the changelog is read by nobody.
    world.ends |= {own: [8], "old-counts-changelog": [99]}
    world.names = {own, "old-counts-changelog", "old-orders"}
    world.states["p"] = Status.RUNS
    world.moves = [lambda: world.at["old"].update({(own, 0): 8})]
    world.at["new"] = {("in", 0): 30, ("in", 1): 5}
    carry_out(AwaitOldVersion(**BOTH), world)
    assert not world.moves
    # A consumer group has none.
    world.ends[own] = [9]
    wait_until_read(world, Version("p", "old"), {("in", 0): 30})


def test_the_lags_are_equal_once_the_new_version_is_near_enough():
    world = World()
    world.moves = [lambda: world.at["new"].update({("in", 0): 28, ("in", 1): 5})]
    carry_out(AwaitEqualLag(**BOTH, max_lag=2), world)
    assert world.notes == ["consumer lag in records: p 10, p2 12"]
    with pytest.raises(RefusedError, match="after 600 s, it is still 2 records behind p"):
        carry_out(AwaitEqualLag(**BOTH, max_lag=1), world)


COMPARE = CompareVersions(
    **BOTH, sink_topic="out", topic="shadow", keys=("id",), seconds=2, tolerance=0.5
)


def test_the_windows_are_read_before_and_after_both_have_processed_the_same_records():
    world = World()
    world.states = dict.fromkeys(world.states, Status.RUNS)
    world.at = {"old": {("in", 0): 40, ("in", 1): 5}, "new": {("in", 0): 40, ("in", 1): 5}}
    world.moves = [
        lambda: world.ends.update({"out": [12], "shadow": [10]}),
        # More input comes, which both are waited for; meanwhile both write more.
        lambda: world.ends.update({"in": [44, 5], "out": [15], "shadow": [13]}),
        lambda: world.at["new"].update({("in", 0): 44}),
        lambda: (world.at["old"].update({("in", 0): 44}), world.ends.update({"out": [18]})),
    ]
    carry_out(COMPARE, world)
    a, b, match = world.asked
    assert (a.inner, a.outer) == ({("out", 0): (9, 15)}, {("out", 0): (9, 18)})
    assert (b.inner, b.outer) == ({("shadow", 0): (7, 13)}, {("shadow", 0): (0, 13)})
    assert match == {"keys": ("id",), "tolerance": 0.5, "ignore": (), "newest": False}
    assert "/runs/r/comparison.json" in world.kept


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"equal": False, "missing": 1}, "the results differ: 3 old rows, 3 new rows, 1 miss"),
        ({"rows_a": 0}, "p wrote no results while both versions ran"),
        ({"columns": (ComparedColumn("n", 0, "number", None),)}, "field n is missing. Consumers"),
    ],
)
def test_what_ends_the_run_before_the_switch(found, said):
    world = World()
    world.states = dict.fromkeys(world.states, Status.RUNS)
    world.at = {g: {("in", 0): 40, ("in", 1): 5} for g in ("old", "new")}
    world.compared, world.readers = replace(EQUAL, **found), {"mailer": False}
    with pytest.raises(RefusedError, match=said):
        carry_out(COMPARE, world)
    if "columns" not in found:
        carry_out(replace(COMPARE, must_match=False), world)
    else:
        world.readers = {}
        carry_out(COMPARE, world)
        assert "out has no known consumers" in world.notes[-1]


def test_only_what_the_application_has_created_is_deleted():
    world = World()
    others = {"new-more-counts-changelog", "new-orders", "old-counts-changelog"}
    world.names = {"new-counts-changelog", "new-by-key-repartition", *others}
    world.at["new-more"] = {("in", 0): 1}
    step = DropApplication(pipeline="p2", group="new")
    carry_out(step, world)
    assert world.names == others and "new" not in world.at
    assert "delete the local state of p2" in world.notes[-1] and not world.done
    # Done once more, as after a crash.
    world.clean = "rm"
    carry_out(step, world)
    assert world.done == [("p2", "clean", "")]
    world.names.add("new-counts-changelog")
    with pytest.raises(StepError, match="p2 has recreated topics new-counts-changelog"):
        step.verify(world, {})


def test_a_start_passes_the_topic_unless_the_version_runs_already():
    world = World()
    step = StartWithOutput(
        pipeline="p2", command="run", stop="halt", has_status=True, output="shadow", group="new"
    )
    step.check(world)
    step.apply(world, step.bind(world))
    assert world.done == [("p2", "start", "shadow")]
    world.states["p2"] = Status.RUNS
    step.apply(world, {})
    assert len(world.done) == 1
    (back,) = step.undo({})
    found = back.details()
    assert (back.action, found["pipeline"], found["command"]) == ("stop_pipeline", "p2", "halt")
