"""Old offsets of a topic that was recreated since: ids and timestamps show it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.model.restore_points import RestorePoint
from headgate.model.version import Engine, Version
from headgate.reprocess.scenarios.shared.recreated_topics import (
    KnownTopics,
    OldOffsets,
    known_topics,
    recreated_topics,
)
from support.flat_ports import FlatPorts

AT = 1_000_000
PART = Partition(number=0, begin=0, end=500)
ORDERS = {"orders": Topic(name="orders", id="new", partitions=(PART,))}


@dataclass
class Inspector(FlatPorts):
    first: int | None = None
    asked: list = field(default_factory=list)

    def first_at(self, parts, at):
        self.asked.append(at)
        return dict.fromkeys(parts, self.first)


def found(first=None, ids=None, ids_at=AT, at=AT, offset=100):
    old = OldOffsets(name="batch 7", offsets={("orders", 0): offset}, at_ms=at)
    inspector = Inspector(first)
    return recreated_topics(inspector, ORDERS, old, KnownTopics(ids=ids or {}, at_ms=ids_at))


@pytest.mark.parametrize(
    ("given", "blocked", "risk"),
    [
        # The ids are of the batch's time or later, and other ones now.
        ({"ids": {"orders": "old"}}, True, ""),
        # The ids are older than the batch: a record that it had read is newer than the batch.
        ({"ids": {"orders": "old"}, "ids_at": AT - 1, "first": 99}, True, ""),
        ({"ids": {"orders": "old"}, "ids_at": AT - 1, "first": 100}, False, ""),
        ({"ids": {"orders": "old"}, "ids_at": AT - 1}, False, ""),
        # Nothing says when the batch was.
        ({"ids": {"orders": "old"}, "at": None}, False, "can't determine"),
        ({"ids": {"orders": "new"}, "first": 1}, False, ""),
        ({"first": 99}, False, "the record at offset 99 of orders[0] is newer than batch 7"),
        ({"first": 100}, False, ""),
        ({"first": None}, False, ""),
        ({"first": 0, "offset": 0}, False, ""),
        ({"at": None}, False, ""),
    ],
)
def test_ids_and_newer_records_show_a_recreated_topic(given, blocked, risk):
    said = found(**given)
    assert bool(said.blockers) is blocked
    assert all("topic orders was deleted and recreated" in one for one in said.blockers)
    assert (risk in said.risks[0]) if risk else said.risks == []


def test_clocks_may_differ():
    inspector = Inspector()
    old = OldOffsets(name="batch 7", offsets={("orders", 0): 100}, at_ms=AT)
    recreated_topics(inspector, ORDERS, old, KnownTopics())
    assert inspector.asked == [AT + 30_000]


def test_a_restore_point_knows_its_topics_better_than_a_version():
    version = Version(
        engine=Engine.SPARK, topic_ids={"orders": "v"}, captured_at="1970-01-01T00:00:02Z"
    )
    point = RestorePoint(
        id="p", pipeline="q", made_at="1970-01-01T00:00:01Z", source="g", topic_ids={"orders": "p"}
    )
    assert known_topics(version, point) == KnownTopics(ids={"orders": "p"}, at_ms=1000)
    assert known_topics(version) == KnownTopics(ids={"orders": "v"}, at_ms=2000)
    assert known_topics(None) == KnownTopics()
