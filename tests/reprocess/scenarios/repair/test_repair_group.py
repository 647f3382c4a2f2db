"""Repair of a consumer group, as far as no broker is needed to say why there is no plan."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from support.flat_ports import FlatPorts


@dataclass
class World(FlatPorts):
    """`orders` with 10 records in each partition, and a group with such offsets of it.

    None: the partition has no committed offset. The topic `other` has one partition.
    """

    at: tuple[int | None, ...] = ()
    other: int | None = None

    def has_cluster(self):
        return True

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=0, end=10) for n in range(max(len(self.at), 1)))
        many = {"orders": parts, "other": parts[:1]}
        return {n: Topic(name=n, id="t", partitions=many[n]) for n in names}

    def topics_in_transaction(self, names):
        return ()

    def group(self, group_id):
        rows = [("orders", n, at) for n, at in enumerate(self.at)] + [("other", 0, self.other)]
        offsets = tuple(GroupOffset(topic=t, partition=n, offset=at) for t, n, at in rows)
        return Group(id="g", type=GroupType.CONSUMER, state="empty", members=(), offsets=offsets)

    def pipelines(self):
        return ()

    def registered(self, pipeline):
        return Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group="g")

    def cluster_id(self):
        return "c"


def moves(plan):
    (step,) = [s for s in plan.steps if s.action == "reset_offsets"]
    return {(m["topic"], m["partition"]): (m["from"], m["to"]) for m in step.details()["offsets"]}


def reason(at, **options):
    (found,) = build_plan("repair", "q", World(at), options).blockers
    return found


def test_without_offsets_nothing_is_called_in_order():
    assert reason(()).startswith("group g has no committed offsets, so there is nothing to repair")
    assert "every committed offset of group g is between" in reason((3,))


def test_an_unknown_last_position_leaves_the_other_choices():
    said = reason((12,), beyond="last-known")
    assert said.endswith("Choose --beyond=beginning or --beyond=end")


def test_a_recreated_topic_starts_anew_in_all_its_partitions():
    plan = build_plan("repair", "q", World((30, 4, None, 0), other=7), {"beyond": "beginning"})
    assert not plan.blockers
    assert moves(plan) == {
        ("orders", 0): (30, 0),
        ("orders", 1): (4, 0),
        ("orders", 2): (None, 0),
        ("orders", 3): (0, 0),
    }
    said = " ".join(plan.risks)
    assert "also resets orders[1], although the offsets there are in range" in said
    assert "keep their offsets: other[0]" in said
    assert "if q has already read records of the recreated topic orders" in said
    told = " ".join([*plan.risks, *plan.outputs.run])
    assert "get duplicates" not in told and "no committed offset" not in told
    assert "processes all records of each recreated topic" in told
    assert plan.impact["total"] == 14


def test_lost_records_move_only_the_partition_that_lost_them():
    plan = build_plan("repair", "q", World((30, 4)), {"beyond": "end"})
    assert moves(plan) == {("orders", 0): (30, 10)}
