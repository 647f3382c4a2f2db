import py4j.java_gateway
import pytest
from pyspark.errors.exceptions.captured import capture_sql_exception

from headgate.errors import RefusedError, SetupError, StepError
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import (
    alter_offsets,
    delete_group,
    delete_offsets,
    read_offsets,
)

pytestmark = pytest.mark.kafka


@pytest.fixture
def kafka(broker, java_admin):
    return Kafka(broker, java=java_admin)


def test_what_was_set_is_read_back_with_epoch_and_metadata(kafka, topic, unique):
    name, group = topic(partitions=2), unique("group")
    alter_offsets(kafka, group, {(name, 0): (7, 0, "by hand"), (name, 1): (3, None, None)})
    found = read_offsets(kafka, group)
    first, second = found[name, 0], found[name, 1]
    assert (first.offset, first.leader_epoch, first.metadata) == (7, 0, "by hand")
    assert (second.offset, second.leader_epoch, second.metadata) == (3, None, None)


def test_a_group_with_members_names_every_partition_that_failed(kafka, member, topic, unique):
    name, group = topic(partitions=2), unique("group")
    with (
        member(group, name),
        pytest.raises(StepError, match=rf"{name}\[0\], {name}\[1\]: the group has active members"),
    ):
        alter_offsets(kafka, group, {(name, p): (5, None, None) for p in (0, 1)})
    assert all(o.offset != 5 for o in read_offsets(kafka, group).values())


def test_an_unknown_partition_is_refused_and_nothing_is_changed(kafka, topic, unique):
    name, group = topic(), unique("group")
    with pytest.raises(RefusedError, match=rf"nowhere\[0\], {name}\[7\]. No offset was changed"):
        targets = {(name, 0): (1, None, None), (name, 7): (1, None, None)}
        alter_offsets(kafka, group, {**targets, ("nowhere", 0): (1, None, None)})
    assert read_offsets(kafka, group) == {}
    assert kafka.describe_group(group).state == "dead"


def test_nothing_to_set_sends_nothing(unique):
    alter_offsets(Kafka("127.0.0.1:1"), unique("group"), {})


def test_single_offsets_are_deleted_through_java(kafka, topic, unique):
    name, group = topic(partitions=3), unique("group")
    alter_offsets(kafka, group, {(name, p): (0, None, None) for p in range(3)})
    delete_offsets(kafka, group, [(name, 0), (name, 2)])
    assert set(read_offsets(kafka, group)) == {(name, 1)}
    delete_offsets(kafka, group, [(name, 0)])
    delete_offsets(kafka, unique("nobody"), [(name, 0)])


def test_deleting_offsets_that_are_read_is_refused_per_partition(kafka, member, topic, unique):
    name, group = topic(), unique("group")
    with (
        member(group, name) as consumer,
        pytest.raises(StepError, match=rf"{name}\[0\]: GroupSubscribedToTopicException"),
    ):
        consumer.poll(0.1)
        delete_offsets(kafka, group, [(name, 0)])


def test_a_spark_session_in_the_process_does_not_change_what_java_says(
    kafka, member, topic, unique, monkeypatch
):
    reading = capture_sql_exception(py4j.protocol.get_return_value)  # as each session sets it
    monkeypatch.setattr(py4j.java_gateway, "get_return_value", reading)
    test_deleting_offsets_that_are_read_is_refused_per_partition(kafka, member, topic, unique)


def test_deleting_offsets_without_the_jars_says_what_is_missing(broker):
    with pytest.raises(SetupError, match="Java client"):
        delete_offsets(Kafka(broker), "group", [("t", 0)])


def test_a_group_is_deleted_once_and_again(kafka, topic, unique):
    name, group = topic(), unique("group")
    alter_offsets(kafka, group, {(name, 0): (0, None, None)})
    delete_group(kafka, group)
    assert kafka.describe_group(group).state == "dead"
    delete_group(kafka, group)


def test_a_group_with_members_is_not_deleted(kafka, member, topic, unique):
    name, group = topic(), unique("group")
    with (
        member(group, name),
        pytest.raises(StepError, match="has active members"),
    ):
        delete_group(kafka, group)
