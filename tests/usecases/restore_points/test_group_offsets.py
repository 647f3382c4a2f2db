"""What a restore point of a consumer group has: commits, and empty partitions without one."""

from headgate.model.cluster import Group, GroupOffset, Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.usecases.restore_points.make_point import group_offsets


def topic(name, *logs):
    parts = [Partition(number=n, begin=begin, end=end) for n, (begin, end) in enumerate(logs)]
    return name, Topic(name=name, id=name, partitions=tuple(parts))


def offsets(engine, topics, **commits):
    rows = [GroupOffset(topic=t, partition=n, offset=o) for t, p in commits.items() for n, o in p]
    group = Group(id="g", state="empty", members=(), offsets=tuple(rows))
    return group_offsets(Pipeline(name="q", engine=engine, group="g"), group, dict(topics))


def test_a_partition_without_records_is_at_its_only_offset():
    logs = ((0, 0), (0, 40), (50, 50), (0, 5), (None, None))
    made = offsets(
        Engine.CONSUMER_GROUP, [topic("orders", *logs)], orders=((1, 40), (3, None)), gone=((0, 7),)
    )
    # What is committed in none but full partitions, auto.offset.reset decides.
    assert made == {"gone": {0: 7}, "orders": {0: 0, 1: 40, 2: 50}}


def test_a_commit_counts_more_than_an_empty_log():
    made = offsets(Engine.CONSUMER_GROUP, [topic("orders", (50, 50))], orders=((0, 45),))
    assert made == {"orders": {0: 45}}


def test_internal_topics_have_only_what_is_committed():
    made = offsets(
        Engine.KAFKA_STREAMS,
        [topic("orders", (0, 0)), topic("g-by-city-repartition", (9, 9), (4, 4))],
        **{"g-by-city-repartition": ((1, 4),)},
    )
    assert made == {"g-by-city-repartition": {1: 4}, "orders": {0: 0}}
