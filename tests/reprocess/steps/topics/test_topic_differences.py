"""A topic that isn't as planned is named with what differs and the planned value."""

from dataclasses import replace

import pytest

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.topic_differences import topic_differences
from headgate.reprocess.steps.records.back_up_records import BackUpRecords, filling
from headgate.reprocess.steps.records.restore_records import ConfigureTopics, RestoreRecords
from headgate.reprocess.steps.topics.add_partitions import AddPartitions
from headgate.reprocess.steps.topics.delete_topics import CreateTopics
from support.flat_ports import FlatPorts

ORDERS = TopicShape(
    name="orders", id="1", partitions=3, replication=1, configs={"retention.ms": "1000"}
)
PLANNED = {"id": "1", "partitions": 6, "replication": 3}


class World(FlatPorts):
    """A cluster with some topics."""

    def __init__(self, *there):
        self.there = {shape.name: shape for shape in there}

    def shapes(self, names):
        return {name: self.there[name] for name in names if name in self.there}

    def identities(self, names):
        return {name: (s.id, s.partitions) for name, s in self.shapes(names).items()}

    def registered(self, _pipeline):
        return None


def test_each_difference_has_both_values():
    planned = {"orders": {**PLANNED, "configs": {"min.insync.replicas": "2"}}}
    assert topic_differences({"orders": ORDERS}, planned) == [
        "topic orders has 3 partitions (planned: 6), no min.insync.replicas (planned: 2), "
        "replication factor 1 (planned: 3), retention.ms=1000 (planned: not set)"
    ]


def test_a_topic_as_planned_is_not_named_and_a_missing_one_is():
    planned = {"orders": {"configs": {"retention.ms": "1000"}}, "sums": {"configs": {}}}
    assert topic_differences({"orders": ORDERS}, planned) == ["topic sums doesn't exist"]


def test_settings_that_differ_say_what_to_set():
    step = ConfigureTopics(configs={"orders": {"retention.ms": "604800000"}})
    with pytest.raises(StepError, match=r"retention.ms=1000 \(planned: 604800000\). Set the pl"):
        step.verify(World(ORDERS), {})
    with pytest.raises(StepError, match="topic orders doesn't exist"):
        step.verify(World(), {})


def test_new_topics_that_differ_say_how():
    step = CreateTopics(topics={"orders": {**PLANNED, "configs": {}}})
    with pytest.raises(StepError, match=r"topic orders has 3 partitions \(planned: 6\)"):
        step.verify(World(ORDERS), {})


def test_settings_that_only_keep_restored_records_are_not_called_the_old_ones():
    old = {"cleanup.policy": "compact"}
    assert "for now" in ConfigureTopics(configs={"orders": filling(old)}).describe()
    assert ConfigureTopics(configs={"orders": old}).describe() == (
        "restore the topic settings of orders"
    )


def test_an_empty_topic_is_not_asked_for_in_place_of_a_backup_topic():
    step = RestoreRecords(backup={"orders": "headgate-backup-1"})
    with pytest.raises(RefusedError, match=r"backup topics not found.*recreate the topics from"):
        step.check(World(ORDERS))
    backup = TopicShape(name="headgate-backup-1", id="2", partitions=3, replication=1)
    with pytest.raises(RefusedError, match=r"topics not found: orders.*Create these topics"):
        step.check(World(backup))


def test_topics_with_other_partitions_are_named_with_both_numbers():
    topics = {name: {"id": "1", "partitions": 2} for name in ("gone", "orders", "other")}
    here = World(ORDERS, replace(ORDERS, name="other", id="9", partitions=6))
    with pytest.raises(StepError) as raised:
        AddPartitions(topics=topics, to=6).verify(here, {})
    assert str(raised.value).startswith(
        "topics differ from the plan: gone no longer exists, orders has 3 partitions (planned: 6), "
        "other was recreated. Check"
    )


def test_a_size_that_nobody_knows_is_not_0_records():
    sizes = {"orders": {"records": 3, "bytes": 1200}, "sums": {"records": None, "bytes": None}}
    step = BackUpRecords(topics={"orders": {}, "sums": {}}, sizes=sizes)
    assert step.describe() == (
        "copy the records of orders, sums to backup topics: an unknown number of records"
    )
    step = BackUpRecords(topics={"orders": {}}, sizes={"orders": sizes["orders"]})
    assert step.describe().endswith(": at most 3 records, 1,200 bytes")
