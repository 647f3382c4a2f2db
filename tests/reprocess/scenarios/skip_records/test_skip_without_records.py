"""Skip records where offsets have none: transaction markers, aborted and compacted records."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from headgate.errors import RefusedError
from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.views.words.impact import impact_lines
from support.flat_ports import FlatPorts


@dataclass
class World(FlatPorts):
    """A group at offset 5 of `orders`, whose records are at 0 to 4 and 6; 5 and 7 are markers."""

    at: int = 5
    begin: int = 0
    records: tuple[int, ...] = (0, 1, 2, 3, 4, 6)
    open_on: tuple[str, ...] = ()
    asked: list = field(default_factory=list)

    def has_cluster(self):
        return True

    def cluster_id(self):
        return "c"

    def topics(self, names):
        part = Partition(number=0, begin=self.begin, end=8)
        return {n: Topic(name=n, id="t", partitions=(part,)) for n in names if n == "orders"}

    def shapes(self, names):
        return {n: TopicShape(name=n, id="t", partitions=1, replication=1) for n in names}

    def topics_in_transaction(self, names):
        return self.open_on

    def first_records(self, ranges):
        self.asked.append(ranges)
        found = {p: [r for r in self.records if b <= r < e] for p, (b, e) in ranges.items()}
        return {p: r[0] for p, r in found.items() if r}

    def group(self, group_id):
        offsets = (GroupOffset(topic="orders", partition=0, offset=self.at),)
        return Group(
            id="g", type=GroupType.CONSUMER, state="empty", members=(), offsets=offsets
        )  # fmt: skip

    def status(self, pipeline):
        return Status.STOPPED

    def pipelines(self):
        return ()

    def registered(self, pipeline):
        return Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group="g")


def plan(world, records):
    return build_plan("skip-records", "q", world, {"records": records})


def test_a_marker_before_the_range_is_no_record_to_read_first():
    world = World()
    made = plan(world, "orders:0:6")
    assert made.blockers == ()
    (risk,) = [r for r in made.risks if "no committed record" in r]
    assert risk.startswith("orders[0] has no committed record at offset 5: only transaction")
    # So does the run, with what it finds then.
    assert made.steps[-1].bind(world)["moves"][0]["to"]["offset"] == 7


def test_a_record_before_the_range_still_blocks_the_plan_and_the_run():
    world = World(at=4)
    (reason,) = plan(world, "orders:0:6").blockers
    assert "would also skip up to 2 records before offset 6" in reason
    step = plan(World(), "orders:0:6").steps[-1]
    with pytest.raises(RefusedError, match="would also skip"):
        step.bind(world)


def test_ranges_outside_of_the_log_are_named_without_offsets_that_there_are_none():
    def refused(records, world):
        return plan(world, records).blockers[0]

    said = "orders[0] doesn't have offset 9: it has offsets 0 to 7. Correct --records"
    assert refused("orders:0:9", World()) == said
    empty = World(begin=8)
    assert refused("orders:0:7-8", empty) == (
        "orders[0] doesn't have offsets 7 to 8: it is empty. Correct --records"
    )
    assert any(r.startswith("q skips offset 6 of") for r in plan(World(), "orders:0:6").risks)


def test_an_open_transaction_may_have_records():
    world = World(open_on=("orders",))
    assert plan(world, "orders:0:6").blockers and world.asked == []


def test_deleted_offsets_are_not_asked_for():
    world = World(at=2, begin=5)
    assert plan(world, "orders:0:6").blockers == ()
    assert world.asked[0] == {("orders", 0): (5, 6)}


def test_a_range_without_records_is_named():
    (risk,) = [r for r in plan(World(), "orders:0:5").risks if "no committed record" in r]
    assert risk.startswith("orders[0] has no committed record at offset 5")
    assert not any("no committed record" in r for r in plan(World(at=4), "orders:0:4-5").risks)


def test_a_range_without_records_has_nothing_to_back_up_or_to_miss():
    made = plan(World(), "orders:0:5")
    assert [s.action for s in made.steps] == ["stop_pipeline", "record_offsets", "skip_records"]
    assert "Records skipped" not in dict(impact_lines(made))
    said = " ".join((*made.risks, *made.outputs.run))
    assert "are missing" not in said and "A copy stays" not in said
    assert made.steps[-1].bind(World())["moves"][0]["to"]["offset"] == 6
    some = plan(World(), "orders:0:5-6")
    assert "back_up_records" in [s.action for s in some.steps]
    assert any("are missing" in risk for risk in some.risks)
