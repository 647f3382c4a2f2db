"""Repair of a consumer group, as far as no broker is needed to say why there is no plan."""

from __future__ import annotations

from dataclasses import dataclass

from flat_ports import FlatPorts
from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan


@dataclass
class World(FlatPorts):
    """The topic `orders` with 10 records, and a group with such offsets of it."""

    at: tuple[int, ...] = ()

    def has_cluster(self):
        return True

    def topics(self, names):
        part = Partition(number=0, begin=0, end=10)
        return {n: Topic(name=n, id="t", partitions=(part,)) for n in names}

    def topics_in_transaction(self, names):
        return ()

    def group(self, group_id):
        offsets = tuple(GroupOffset(topic="orders", partition=0, offset=at) for at in self.at)
        return Group(id="g", type=GroupType.CONSUMER, state="empty", members=(), offsets=offsets)

    def pipelines(self):
        return ()

    def registered(self, pipeline):
        return Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group="g")


def reason(at, **options):
    (found,) = build_plan("repair", "q", World(at), options).blockers
    return found


def test_without_offsets_nothing_is_called_in_order():
    assert reason(()).startswith("group g has no committed offsets, so there is nothing to repair")
    assert "every committed offset of group g is between" in reason((3,))


def test_an_unknown_last_position_leaves_the_other_choices():
    said = reason((12,), beyond="last-known")
    assert said.endswith("Choose --beyond=beginning or --beyond=end")
