import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AclOperation, NewTopic

from headgate.errors import ConfigError, UnreachableError
from headgate.gateway.kafka import topics as kafka_topics
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import alter_offsets
from headgate.gateway.kafka.errors import Deadline
from headgate.gateway.kafka.topic_changes import uncreatable
from headgate.model.cluster import GroupType
from headgate.reprocess.ports.kafka import TopicShape
from support.waiting import until

pytestmark = pytest.mark.kafka


@pytest.fixture
def kafka(broker):
    # A busy machine may need more than the seconds that a person waits.
    return Kafka(broker, timeout=60)


def test_a_topic_with_its_offsets_and_settings(kafka, topic, produce):
    settings = {"retention.ms": "60000", "retention.bytes": "1000000", "cleanup.policy": "compact"}
    name = topic("orders", partitions=2, config=settings)
    produce(name, [("a", "x"), ("b", "y")], partition=1)
    found = kafka.snapshot().topics[name]
    assert [(p.number, p.begin, p.end) for p in found.partitions] == [(0, 0, 0), (1, 0, 2)]
    assert (found.retention_ms, found.retention_bytes) == (60000, 1000000)
    assert (found.cleanup_policy, found.internal, found.records) == ("compact", False, 2)
    assert found.id and found == kafka.topics([name, "nowhere"])[name]


def test_a_topic_made_anew_has_another_id(kafka, kafka_admin, topic):
    name = topic()
    before = kafka.topics([name])[name].id
    kafka_admin.delete_topics([name])[name].result()
    until(lambda: not kafka.topics([name]))
    kafka_admin.create_topics([NewTopic(name, 1, 1)])[name].result()
    until(lambda: name in kafka.topics([name]))
    assert kafka.topics([name])[name].id != before


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_running_group_of_either_protocol(kafka, member, topic, produce, unique, protocol):
    name, group = topic(partitions=2), unique("group")
    produce(name, ["a", "b", "c"], partition=0)
    extra = {"group.protocol": protocol, "group.instance.id": "one", "enable.auto.commit": False}
    with member(group, name, **extra) as consumer:
        consumer.commit(offsets=[TopicPartition(name, 0, 1)], asynchronous=False)
        cluster = kafka.snapshot()
    found = cluster.groups[group]
    assert (found.type, found.state) == (GroupType(protocol), "stable")
    (only,) = found.members
    assert (only.client_id, only.instance_id) == ("me", "one")
    assert only.host and only.assignment == ((name, 0), (name, 1))
    assert not found.is_inactive
    assert cluster.lag(found) == {(name, 0): 2}


def test_an_empty_group_is_proven_inactive_and_a_missing_one_is_not(kafka, topic, unique):
    name, group = topic(), unique("group")
    alter_offsets(kafka, group, {(name, 0): (0, None, None)})
    found = kafka.describe_group(group)
    assert (found.state, found.members, found.is_inactive) == ("empty", (), True)
    missing = kafka.describe_group(unique("nobody"))
    assert (missing.state, missing.members, missing.is_inactive) == ("dead", (), False)


def assigned(seen, *groups):
    """Return what was seen once each group has a partition, and offsets are committed."""
    has = [m.assignment for g in groups for m in seen.groups[g].members or ()]
    return seen if all(has) and len(has) == len(groups) and seen.groups[groups[0]].offsets else None


def test_streams_and_share_groups_are_told_with_java_and_never_empty_without(
    broker, kafka, java_admin, java_groups, topic, produce, unique
):
    name, streams, share = topic(partitions=2), unique("app"), unique("share")
    produce(name, ["a", "b"], partition=0)
    with java_groups(name, streams, share):
        blind = kafka.snapshot()
        with_java = Kafka(broker, java=java_admin)
        # Groups are ready when a coordinator says so, which takes as long as the machine is busy.
        told = until(lambda: assigned(with_java.snapshot(), streams, share))
        alone = with_java.describe_group(streams)
    for group in (blind.groups[streams], blind.groups[share]):
        assert (group.type, group.state, group.members) == (GroupType.UNKNOWN, "unknown", None)
        assert not group.is_inactive
    assert any(streams in w and share in w and "Java client" in w for w in blind.warnings)
    assert [told.groups[g].type for g in (streams, share)] == [GroupType.STREAMS, GroupType.SHARE]
    for group in (told.groups[streams], told.groups[share], alone):
        (only,) = group.members
        assert (group.state, only.assignment) == ("stable", ((name, 0), (name, 1)))
    assert {(o.topic, o.partition): o.offset for o in alone.offsets}[name, 0] == 2
    assert told.warnings == ()


def test_a_topic_deleted_in_between_costs_one_warning(kafka, kafka_admin, topic, produce):
    gone, stays = topic("gone", partitions=3), topic("stays")
    produce(stays, ["a"])
    metadata = kafka.admin.list_topics(timeout=10).topics
    kafka_admin.delete_topics([gone])[gone].result()
    until(lambda: not kafka.topics([gone]))
    warnings = kafka_topics.Warnings()
    wanted = {name: metadata[name] for name in (gone, stays)}
    found = kafka_topics.read_topics(kafka.admin, wanted, Deadline(9), warnings)
    assert [p.end for p in found[gone].partitions] == [None] * 3
    assert found[gone].records is None
    assert found[stays].records == 1
    assert len([w for w in warnings.sentences() if f"Offsets of {gone}" in w]) == 1


def test_settings_that_came_too_late_are_a_warning():
    warnings = kafka_topics.Warnings()
    found = kafka_topics.broker_settings({"broker 1": Future()}, Deadline(0), warnings)
    assert (found, warnings.silent) == ({}, True)
    assert warnings.sentences()[0].startswith("Settings of broker 1 could not be read: ")


def test_offsets_for_partitions_and_times(kafka, topic, produce):
    name = topic()
    produce(name, ["a", "b"])
    parts = [(name, 0), (name, 9), ("nowhere", 0)]
    assert kafka.begin_end(parts) == {
        (name, 0): (0, 2),
        (name, 9): (None, None),
        ("nowhere", 0): (None, None),
    }
    later = int(time.time() * 1000) + 3_600_000
    assert kafka.offsets_for_times({(name, 0): 0}) == {(name, 0): 0}
    assert kafka.offsets_for_times({(name, 0): later, ("nowhere", 0): 0}) == {
        (name, 0): None,
        ("nowhere", 0): None,
    }
    assert kafka.begin_end([("nowhere", 0)]) == {("nowhere", 0): (None, None)}
    assert kafka.begin_end([]) == kafka.offsets_for_times({}) == {}


@pytest.mark.long
def test_a_thousand_partitions_and_two_hundred_groups(kafka, kafka_admin, unique):
    names = [unique("many") for _ in range(100)]
    new = [NewTopic(name, num_partitions=10, replication_factor=1) for name in names]
    for future in kafka_admin.create_topics(new).values():
        future.result()
    _wait_for_leaders(kafka, [(name, p) for name in names for p in range(10)])
    groups = [unique("many") for _ in range(200)]
    _commit(kafka_admin, {group: names[n % 100] for n, group in enumerate(groups)})
    cluster = kafka.snapshot()
    assert all(len(cluster.topics[name].partitions) == 10 for name in names)
    assert all(p.end == 0 for name in names for p in cluster.topics[name].partitions)
    assert all(len(cluster.groups[group].offsets) == 10 for group in groups)
    for future in kafka_admin.delete_topics(names).values():
        future.result()


def _commit(admin, topics):
    """Commit offset 0 of ten partitions for each group, side by side."""
    futures = {}
    for group, name in topics.items():
        parts = [TopicPartition(name, p, 0) for p in range(10)]
        futures |= admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, parts)])
    for future in futures.values():
        assert not any(tp.error for tp in future.result().topic_partitions)


def _wait_for_leaders(kafka, parts):
    def have() -> bool:
        with suppress(UnreachableError):
            return None not in {end for _, end in kafka.begin_end(parts).values()}
        return False

    until(have, "the topics got no leaders")


def test_nobody_listening_is_one_sentence_soon(capfd):
    start = time.monotonic()
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1 .*refused.*check") as error:
        Kafka("127.0.0.1:1").snapshot()
    assert time.monotonic() - start < 10
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_a_listener_that_never_answers_is_told_within_ten_seconds():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        start = time.monotonic()
        with pytest.raises(UnreachableError, match="does not respond"):
            Kafka(f"127.0.0.1:{deaf.getsockname()[1]}").snapshot()
        assert time.monotonic() - start < 10


def test_an_address_that_nobody_can_resolve():
    with pytest.raises(UnreachableError, match="resolve"):
        Kafka("nowhere.invalid:9092").cluster_id()


def test_a_setting_that_the_client_does_not_know():
    with pytest.raises(ConfigError, match="bogus"):
        Kafka("127.0.0.1:1", {"bogus": "1"})


@pytest.mark.long
def test_a_broker_that_advertises_an_address_out_of_reach(secured, kafka_of):
    kafka_of("admin").topics([])
    _make(secured, "seen")
    start = time.monotonic()
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1.*advertised"):
        Kafka(secured.lost).snapshot()
    assert time.monotonic() - start < 10


@pytest.fixture
def kafka_of(secured):
    return lambda user, **more: Kafka(secured.address, secured.config(user), **more)


def _make(secured, *names):
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({**secured.config("admin"), "bootstrap.servers": secured.address})
    wanted = [NewTopic(n, 1, 1) for n in names if n not in admin.list_topics(timeout=10).topics]
    for future in (admin.create_topics(wanted) if wanted else {}).values():
        future.result()
    return admin


def test_a_wrong_password_is_told_as_such(secured):
    config = {**secured.config("reader"), "sasl.password": "wrong"}
    with pytest.raises(UnreachableError, match=r"rejects the login.*\[kafka\.config\]"):
        Kafka(secured.address, config).snapshot()


def _allow(admin, *rights):
    from confluent_kafka.admin import (
        AclBinding,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

    bindings = [
        AclBinding(
            *(ResourceType.TOPIC, name, ResourcePatternType.LITERAL, "User:reader", "*"),
            *(operation, AclPermissionType.ALLOW),
        )
        for name, operation in rights
    ]
    for future in admin.create_acls(bindings).values():
        future.result()


def test_what_may_not_be_read_is_a_warning_and_the_rest_is_read(secured, kafka_of):
    admin = _make(secured, "seen", "half", "hidden")
    seen = [("seen", AclOperation.DESCRIBE), ("seen", AclOperation.DESCRIBE_CONFIGS)]
    _allow(admin, *seen, ("half", AclOperation.DESCRIBE))
    until(lambda: len(kafka_of("reader").snapshot().topics) >= 2)
    cluster = kafka_of("reader").snapshot()
    assert set(cluster.topics) == {"seen", "half"}
    assert cluster.topics["seen"].retention_ms == 604_800_000
    assert cluster.topics["half"].retention_ms is None
    assert [p.end for p in cluster.topics["half"].partitions] == [0]
    assert any("Settings of half" in w and "uthoriz" in w for w in cluster.warnings)


def test_whether_a_login_may_create_a_topic_is_known_before(secured, kafka_of):
    wanted = TopicShape(name="made", id="", partitions=1, replication=1)
    seen = replace(wanted, name="seen")
    _allow(_make(secured, "seen"), ("seen", AclOperation.DESCRIBE))
    said = "Kafka's ACLs don't allow Headgate to create topic made. Grant the operation Create"
    with kafka_of("reader") as kafka:
        until(lambda: "seen" in kafka.partitions())
        assert uncreatable(kafka, [wanted, seen]) == {"made": said}
    with kafka_of("admin") as kafka:
        assert uncreatable(kafka, [wanted, seen]) == {}
        (why,) = uncreatable(kafka, [replace(wanted, replication=3)]).values()
        assert "made" not in kafka.identities(["made"])
    assert why.startswith("topic made can't be created: ") and "replication factor" in why
