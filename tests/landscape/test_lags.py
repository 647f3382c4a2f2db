"""Where a Spark query stands in its topics, and what Kafka says of that place."""

from dataclasses import replace

import pytest

from headgate.landscape.consumer_lag import checkpoint_positions, ends_of, lag_sentences, total
from headgate.landscape.landscape import PositionState
from headgate.landscape.pipeline_topics import matcher
from headgate.model.cluster import Cluster, Group, GroupOffset, Partition, Topic
from headgate.model.version import Engine, Progress, Source, Version

READ_AT = "2026-11-21T10:00:00+00:00"
BEFORE, AFTER = "2026-11-21T09:59:00.000Z", "2026-11-21T10:00:01.000Z"


def version(offsets, at=BEFORE, **source):
    facts = {"format": "kafka", "topics": ("orders",), **source}
    return Version(
        engine=Engine.SPARK,
        sources=(Source(position=0, offsets=offsets, **facts),),
        progress=Progress(offsets_at=at),
    )


def cluster(**topics):
    made = {
        name: Topic(
            name=name,
            partitions=tuple(Partition(number=n, begin=b, end=e) for n, (b, e) in enumerate(parts)),
        )
        for name, parts in topics.items()
    }
    return Cluster(id="c", at=READ_AT, bootstrap="b", topics=made)


def states(found):
    return {(p.topic, p.partition): (p.position, p.lag, p.state.value) for p in found}


def test_a_position_within_the_log_is_behind_by_what_lies_after_it():
    (found,) = checkpoint_positions(
        version({"orders": {"0": 3}}), ends_of(cluster(orders=[(0, 5)]))
    )
    assert (found.begin, found.end, found.lag, found.lost) == (0, 5, 2, 0)
    assert found.state is PositionState.OK


def test_what_retention_took_before_it_was_read_is_lost():
    found = checkpoint_positions(
        version({"orders": {"0": 3, "1": 9}}), ends_of(cluster(orders=[(10, 12), (9, 12)]))
    )
    assert [(p.state.value, p.lost, p.lag) for p in found] == [("data_lost", 7, 9), ("ok", 0, 3)]
    assert list(lag_sentences("city", found)) == [
        "Pipeline city missed records at 7 offsets in partition 0 of topic orders: Kafka deleted "
        "these records before the pipeline read them."
    ]


def test_a_sentence_names_only_the_first_partitions():
    found = checkpoint_positions(
        version({"orders": {str(n): 0 for n in range(12)}}), ends_of(cluster(orders=[(1, 2)] * 12))
    )
    (said,) = lag_sentences("city", found)
    assert (
        "12 offsets in partitions 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more of topic orders" in said
    )


@pytest.mark.parametrize(
    ("at", "state"),
    [(BEFORE, "beyond_end"), (AFTER, "unknown"), (None, "unknown"), ("x", "unknown")],
)
def test_an_offset_after_the_end_tells_of_another_topic_only_where_it_is_older(at, state):
    (found,) = checkpoint_positions(
        version({"orders": {"0": 8}}, at), ends_of(cluster(orders=[(0, 5)]))
    )
    assert found.state.value == state
    assert found.lag == (None if state == "beyond_end" else 0)
    assert bool(list(lag_sentences("city", [found]))) is (state == "beyond_end")


def test_a_partition_that_has_no_offset_yet_stands_without_a_position():
    found = checkpoint_positions(
        version({"orders": {"0": 5}}), ends_of(cluster(orders=[(0, 5), (0, 4)], other=[(0, 1)]))
    )
    assert states(found) == {("orders", 0): (5, 0, "ok"), ("orders", 1): (None, None, "no_offset")}
    assert total(found) == 0


def test_a_pattern_reads_the_topics_that_match_it_now():
    read = version({"o-1": {"0": 1}}, topics=(), pattern="o-.")
    ends = ends_of(cluster(**{"o-1": [(0, 1)], "o-2": [(0, 3)], "x": [(0, 1)]}))
    match = matcher(["o-1", "o-2", "x"])
    assert states(checkpoint_positions(read, ends, match)) == {
        ("o-1", 0): (1, 0, "ok"),
        ("o-2", 0): (None, None, "no_offset"),
    }


def test_assigned_partitions_are_all_that_is_read():
    read = version({"orders": {"1": 2}}, options={"assign": '{"orders":[1,2]}'})
    ends = ends_of(cluster(orders=[(0, 9), (0, 2), (0, 7)]))
    assert states(checkpoint_positions(read, ends)) == {
        ("orders", 1): (2, 0, "ok"),
        ("orders", 2): (None, None, "no_offset"),
    }


def test_a_topic_that_is_gone_has_no_lag():
    (found,) = checkpoint_positions(version({"orders": {"0": 3}}), ends_of(cluster(x=[(0, 1)])))
    assert (found.lag, found.state) == (None, PositionState.NOT_LISTED)


def test_without_kafka_nothing_is_said_to_lack():
    (found,) = checkpoint_positions(version({"orders": {"0": 3}}), ends_of(None))
    assert (found.position, found.lag, found.state) == (3, None, PositionState.UNKNOWN)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"orders": 3}', '{"orders": ["x"]}'])
def test_an_assignment_that_cannot_be_read_names_no_partition(text):
    read = version({"orders": {"0": 1}}, options={"ASSIGN": text})
    ends = ends_of(cluster(orders=[(0, 1), (0, 1)]))
    assert states(checkpoint_positions(read, ends)) == {("orders", 0): (1, 0, "ok")}


@pytest.mark.parametrize("at", [AFTER, "2026-11-21T09:59:45.000Z", None])
def test_a_reading_that_may_be_older_than_the_position_takes_nothing_away(at):
    found = checkpoint_positions(
        version({"orders": {"0": 3, "1": 9}}, at), ends_of(cluster(orders=[(10, 12), (0, 5)]))
    )
    assert [p.state.value for p in found] == ["unknown", "unknown"]


def test_what_was_read_after_the_position_decides():
    seen = replace(cluster(orders=[(10, 12), (0, 5)]), after_evidence=True)
    found = checkpoint_positions(version({"orders": {"0": 3, "1": 9}}, AFTER), ends_of(seen))
    assert [p.state.value for p in found] == ["data_lost", "beyond_end"]


def test_nobody_knows_the_lag_of_a_group_beyond_the_end_that_was_read_before():
    offsets = (GroupOffset(topic="orders", partition=0, offset=7),)
    seen = cluster(orders=[(0, 5)])
    assert seen.lag(Group(id="g", offsets=offsets)) == {("orders", 0): None}
