import time

import pytest

from headgate.landscape.build import NOT_READ, build
from headgate.landscape.landscape import LandscapeKind
from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Sink, Source, Version

AT = "2026-11-21T10:00:00+00:00"


def topic(name, *ends, begin=0, **facts):
    parts = [Partition(number=i, begin=begin, end=end) for i, end in enumerate(ends)]
    return Topic(name=name, partitions=tuple(parts), **facts)


def spark(reads=("orders",), writes="by-city", offsets=None, **source):
    nodes = (
        Node("source-1", NodeKind.SOURCE, "kafka", "orders"),
        Node("aggregate-1", NodeKind.TRANSFORM, "aggregate", "count", 1),
        Node("store-1", NodeKind.STATE_STORE, "state_store", "counts", 1),
        Node("sink", NodeKind.SINK, "kafka", writes or "sink", 1),
    )
    edges = (Edge("source-1", "aggregate-1"), Edge("aggregate-1", "store-1"))
    return Version(
        engine=Engine.SPARK,
        topology=Topology(nodes, (*edges, Edge("aggregate-1", "sink"))),
        sources=(
            Source(
                position=0,
                format="kafka",
                topics=reads,
                node="source-1",
                offsets=offsets,
                **source,
            ),
        ),
        sink=Sink(format="kafka", target=writes, node="sink"),
        captured_at=AT,
    )


def registry(*pipelines):
    return Registry(pipelines=pipelines)


def cluster(topics=(), groups=(), warnings=()):
    return Cluster(
        id="c",
        at=AT,
        bootstrap="b:1",
        topics={t.name: t for t in topics},
        groups={g.id: g for g in groups},
        warnings=warnings,
    )


CITY = Pipeline(name="city", engine=Engine.SPARK, checkpoint="/ck")
NEXT = Pipeline(name="next", engine=Engine.SPARK, checkpoint="/ck2")
BILLING = Pipeline(name="billing", engine=Engine.CONSUMER_GROUP, group="bill")


def group(name, *offsets, **facts):
    committed = [GroupOffset(topic=t, partition=p, offset=o) for t, p, o in offsets]
    return Group(id=name, offsets=tuple(committed), **facts)


def edges(landscape):
    return {(e.source, e.target) for e in landscape.edges}


def test_two_pipelines_are_joined_by_the_topic_between_them():
    versions = {"city": spark(), "next": spark(("by-city",), "alerts")}
    topics = [topic("orders", 5), topic("by-city", 3), topic("alerts", 0)]
    land = build(registry(CITY, NEXT), versions, cluster(topics))
    assert {("city/sink", "topic:by-city"), ("topic:by-city", "next/source-1")} <= edges(land)
    assert land.topic("by-city").writers == ("city",)
    assert land.topic("by-city").readers == ("next",)
    assert land.pipeline("city").reads == ("orders",)
    assert land.pipeline("city").writes == ("by-city",)
    assert land.pipeline("city").stores == 1
    assert land.node("city/store-1").subtopology == 1
    assert land.warnings == ()


def test_every_edge_ends_at_a_node():
    land = build(registry(CITY, NEXT, BILLING), {"city": spark()}, cluster())
    ids = {n.id for n in land.nodes}
    assert all(a in ids and b in ids for a, b in edges(land))
    assert len(ids) == len(land.nodes)


def test_spark_lag_is_end_minus_the_checkpoints_offset():
    version = spark(offsets={"orders": {"0": 3, "1": 9}})
    land = build(registry(CITY), {"city": version}, cluster([topic("orders", 5, 7)]))
    city = land.pipeline("city")
    assert [(p.partition, p.position, p.lag) for p in city.positions] == [(0, 3, 2), (1, 9, 0)]
    assert (city.lag, city.lag_from) == (2, "checkpoint")
    assert land.topic("orders").lags == (("city", 2),)


def test_what_is_not_known_is_not_zero():
    unread = Topic(name="orders", partitions=(Partition(number=0),))
    version = spark(offsets={"orders": {"0": 3}})
    land = build(registry(CITY), {"city": version}, cluster([unread]))
    assert land.pipeline("city").lag is None
    assert land.topic("orders").records is None


def test_a_consumer_group_reads_what_it_committed_and_what_it_is_assigned():
    member = Member(id="m", assignment=(("payments", 0),))
    bill = group("bill", ("orders", 0, 4), type=GroupType.CONSUMER, state="stable")
    bill = Group(id="bill", offsets=bill.offsets, members=(member,), state="stable")
    topics = [topic("orders", 10), topic("payments", 1)]
    land = build(registry(BILLING), {}, cluster(topics, [bill]))
    assert edges(land) == {
        ("topic:orders", "billing/pipeline"),
        ("topic:payments", "billing/pipeline"),
    }
    assert land.pipeline("billing").lag == 6
    assert land.group("bill").pipeline == "billing"
    assert land.group("bill").node == "billing/pipeline"
    assert land.node("billing/pipeline").note is None
    assert not [n for n in land.nodes if n.kind is LandscapeKind.GROUP]


def test_a_declared_group_that_kafka_does_not_have_keeps_its_declared_topics():
    billing = Pipeline(
        name="billing", engine=Engine.CONSUMER_GROUP, group="bill", topics=("orders",)
    )
    land = build(registry(billing), {}, cluster([topic("orders", 1)]))
    assert land.node("billing/pipeline").note == "group not in Kafka"
    assert edges(land) == {("topic:orders", "billing/pipeline")}


def test_an_undeclared_group_is_a_reader_of_its_own():
    other = group("audit", ("orders", 0, 1), members=None)
    idle = group("idle", members=(), state="empty")
    land = build(registry(), {}, cluster([topic("orders", 3)], [other, idle]))
    node = land.node("group:audit")
    assert (node.kind, node.note) == (LandscapeKind.GROUP, "undeclared")
    assert land.topic("orders").readers == ("group:audit",)
    assert land.group("audit").members is None
    assert (land.group("idle").members, land.group("idle").node) == (0, None)
    assert land.group("audit").lag == 2


def test_a_pipeline_without_a_version_is_shown_with_a_note():
    land = build(registry(CITY), {}, cluster())
    assert land.node("city/pipeline").note == "no version yet"
    assert land.pipeline("city").nodes == ("city/pipeline",)


def test_a_version_without_a_topology_still_joins():
    version = Version(
        engine=Engine.SPARK, sources=(Source(position=0, offsets={"orders": {"0": 1}}),)
    )
    land = build(registry(CITY), {"city": version}, cluster([topic("orders", 1)]))
    assert land.node("city/pipeline").note == "topology not known"
    assert edges(land) == {("topic:orders", "city/pipeline")}


def test_without_kafka_topics_come_from_versions_and_a_warning_says_so():
    land = build(registry(CITY), {"city": spark(offsets={"orders": {"0": 3}})}, None)
    assert land.warnings == (NOT_READ,)
    assert [(t.name, t.exists, t.partitions) for t in land.topics] == [
        ("by-city", None, None),
        ("orders", None, None),
    ]
    assert (land.at, land.pipeline("city").lag) == (None, None)


def test_a_topic_that_kafka_does_not_list_is_marked_and_said():
    land = build(registry(CITY), {"city": spark()}, cluster([topic("orders", 1)]))
    assert land.topic("by-city").exists is False
    assert land.node("topic:by-city").note == "not in Kafka"
    assert "Pipeline city writes topic by-city" in land.warnings[0]


def test_unused_topics_are_shown_and_kafkas_own_only_where_used():
    topics = [topic("spare", 0), topic("__consumer_offsets", 9, internal=True)]
    land = build(registry(), {}, cluster(topics))
    assert [(t.name, t.is_unused) for t in land.topics] == [("spare", True)]


def test_sparks_pattern_is_looked_for_in_a_name_and_a_broken_one_matches_nothing():
    """Spark 4.2 read `orders-out`, too, with `(orders|returns)`: golden source_kafka_pattern."""
    topics = [topic("orders-eu", 1), topic("my-orders-x", 1), topic("other", 1)]
    land = build(registry(CITY), {"city": spark((), pattern="orders-.")}, cluster(topics))
    assert land.pipeline("city").reads == ("my-orders-x", "orders-eu")
    land = build(registry(CITY), {"city": spark((), pattern="^orders-..$")}, cluster(topics))
    assert land.pipeline("city").reads == ("orders-eu",)
    land = build(registry(CITY), {"city": spark((), pattern="(")}, cluster(topics))
    assert land.pipeline("city").reads == ()


def test_a_sink_without_a_topic_says_that_records_name_theirs():
    land = build(registry(CITY), {"city": spark(writes=None)}, None)
    assert any("chooses a topic for each record" in w for w in land.warnings)


def test_a_file_source_and_sink_touch_no_topic():
    version = Version(
        engine=Engine.SPARK,
        sources=(Source(position=0, format="file", offsets={"logOffset": 3}),),
        sink=Sink(format="parquet", target="/out"),
    )
    land = build(registry(CITY), {"city": version}, cluster())
    assert (land.topics, land.edges) == ((), ())


def test_a_prefix_makes_no_owner_of_an_internal_topic_but_a_proof_does():
    apps = [Pipeline(name=n, engine=Engine.KAFKA_STREAMS, group=n) for n in ("orders", "orders-eu")]
    names = ["orders-eu-counts-changelog", "orders-eu-plain", "orders-x-repartition"]
    reading = group("orders", ("orders-x-repartition", 0, 1))
    land = build(registry(*apps), {}, cluster([topic(n, 1) for n in names], [reading]))
    assert [(t.name, t.owner, t.candidates) for t in land.topics] == [
        ("orders-eu-counts-changelog", None, ("orders-eu", "orders")),
        ("orders-eu-plain", None, ()),
        ("orders-x-repartition", "orders", ()),
    ]
    changelog, plain, repartition = land.topics
    assert changelog.proof.startswith("unverified")
    assert plain.proof is None
    assert repartition.proof == "group orders has committed offsets of this repartition topic"


def test_kafka_streams_nodes_name_their_topics():
    nodes = (
        Node("source-a", NodeKind.SOURCE, "kafka", "a", details={"topics": ["orders"]}),
        Node("sink-a", NodeKind.SINK, "kafka", "b", details={"topics": ["out"]}),
    )
    version = Version(engine=Engine.KAFKA_STREAMS, topology=Topology(nodes))
    app = Pipeline(name="app", engine=Engine.KAFKA_STREAMS, group="app")
    running = group("app", ("orders", 0, 1), type=GroupType.STREAMS, members=None)
    found_cluster = cluster([topic("orders", 4), topic("out", 1)], [running])
    land = build(registry(app), {"app": version}, found_cluster)
    assert edges(land) == {("topic:orders", "app/source-a"), ("app/sink-a", "topic:out")}
    assert (land.pipeline("app").lag, land.pipeline("app").lag_from) == (3, "group")


def test_equal_input_gives_an_equal_landscape_and_order_of_reading_does_not_matter():
    topics, groups = [topic("b", 1), topic("a", 1)], [group("y", ("a", 0, 1)), group("x")]
    one = build(registry(CITY), {"city": spark()}, cluster(topics, groups))
    two = build(registry(CITY), {"city": spark()}, cluster(topics[::-1], groups[::-1]))
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000])
def test_time_is_linear_in_topics_and_offsets(count):
    def seconds(n):
        topics = [topic(f"t{i}", *range(10)) for i in range(n)]
        groups = [group(f"g{i}", *((f"t{i}", p, 0) for p in range(10))) for i in range(n)]
        found_cluster = cluster(topics, groups)
        start = time.process_time()
        build(registry(), {}, found_cluster)
        return time.process_time() - start

    seconds(count // 4)
    small, large = (min(seconds(n) for _ in range(3)) for n in (count // 4, count))
    assert large < 10 * small + 0.05
