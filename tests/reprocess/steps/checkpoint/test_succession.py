"""Where the sources of a new version begin, over a cluster on paper."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.reprocess.checkpoint.source_offsets import (
    Beginning,
    QueryPosition,
    SourceKind,
    SourcePosition,
    read_beginning,
)
from headgate.reprocess.steps.checkpoint.source_succession import CARRY, Take, begin, impact
from headgate.reprocess.steps.offsets.target import Listed, Silent, Target, TargetKind
from support.flat_ports import FlatPorts

KAFKA = SourcePosition(name="0", kind=SourceKind.KAFKA, offsets={"orders": {0: 7, 1: 3}})
FILES = SourcePosition(name="1", kind=SourceKind.FILES, entry=4, files=9)
RATE = SourcePosition(name="2", kind=SourceKind.OTHER)
POSITION = QueryPosition(batch=5, sources=(KAFKA, FILES, RATE))
TAKES = (Take(name="0", of=("0",)), Take(name="1", of=("1",)))


@dataclass
class Paper(FlatPorts):
    """`orders` has three partitions; the third came after the last batch."""

    cluster: bool = True
    first: dict = field(default_factory=dict)
    ends: tuple = (10, 10, 10)

    def has_cluster(self):
        return self.cluster

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=2, end=end) for n, end in enumerate(self.ends))
        return {n: Topic(name=n, id="o", partitions=parts) for n in names if n == "orders"}

    def first_at(self, parts, at):
        return {part: self.first.get(part[1]) for part in parts}


def offsets(found):
    return next(b.offsets for b in found.beginnings if b.files_of is None)


def files(found):
    return next((b for b in found.beginnings if b.files_of is not None), None)


def test_carried_over_is_where_it_was_and_a_new_partition_is_spark_s_own_affair():
    found = begin(TAKES, POSITION, CARRY, Paper())
    assert found.blockers == []
    assert offsets(found) == {"orders": {0: 7, 1: 3}}
    assert files(found) == Beginning(name="1", files_of="1", entry=4)
    shown = impact(found.ways, Paper().topics(["orders"]))
    assert (shown["total"], shown["to_read"], found.files) == (0, {"orders": 10}, 0)


@pytest.mark.parametrize(
    ("target", "again"),
    [
        (Target(place=TargetKind.BEGINNING), 9),
        (Target(place=TargetKind.TIME, at=1000), 9),
        (Target(place=TargetKind.OFFSET, offset=5), 0),
    ],
)
def test_files_that_are_read_again_are_counted(target, again):
    assert begin(TAKES, POSITION, target, Paper()).files == again


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target(place=TargetKind.BEGINNING), {0: 2, 1: 2, 2: 2}),
        (Target(place=TargetKind.OFFSET, offset=5), {0: 5, 1: 5, 2: 5}),
        (
            Target(
                place=TargetKind.LISTED, listed=(Listed(topic="orders", partition=1, offset=9),)
            ),
            None,
        ),
        (Target(place=TargetKind.TIME, at=50, past_retention=True), {0: 4, 1: 6, 2: 2}),
    ],
)
def test_a_point_is_found_in_every_partition(target, expected):
    found = begin(TAKES, POSITION, target, Paper(first={0: 4, 1: 6, 2: 0}))
    assert found.blockers == []
    assert offsets(found)["orders"] == (expected or {0: 7, 1: 9})


def test_a_time_that_retention_has_passed_in_some_partitions_is_asked_about_over_all_sources():
    more = SourcePosition(name="3", kind=SourceKind.KAFKA, offsets={"clicks": {0: 7}})
    position = QueryPosition(batch=5, sources=(KAFKA, more))
    takes = (Take(name="0", of=("0",)), Take(name="3", of=("3",)))
    at = Target(place=TargetKind.TIME, at=50)

    class Both(Paper):
        def topics(self, names):
            part = Partition(number=0, begin=0, end=9)
            clicks = {"clicks": Topic(name="clicks", id="c", partitions=(part,))}
            return {**Paper.topics(self, names), **(clicks if "clicks" in names else {})}

        def first_at(self, parts, at):
            return {(t, n): 5 if t == "clicks" else self.first[n] for t, n in parts}

    found = begin(takes, position, at, Both(first={0: 2, 1: 2, 2: 2}))
    (reason,) = found.blockers
    assert "no record of orders[0], orders[1], orders[2] is older than" in reason
    assert "--past-retention" in reason
    alone = begin(TAKES, POSITION, at, Paper(first={0: 2, 1: 2, 2: 2}))
    assert alone.blockers == []
    assert any("don't start at one common time" in risk for risk in alone.risks)


def test_files_older_than_the_time_count_as_read():
    found = begin(
        TAKES, POSITION, Target(place=TargetKind.TIME, at=50), Paper(first={0: 4, 1: 4, 2: 4})
    )
    assert files(found) == Beginning(name="1", files_of="1", entry=4, before=50)
    again = begin(TAKES, POSITION, Target(place=TargetKind.BEGINNING), Paper())
    assert files(again) is None
    end = begin(TAKES, POSITION, Target(place=TargetKind.END), Paper())
    assert any("Headgate can't skip unread files" in one for one in end.blockers)


def test_no_record_since_is_asked_about_and_then_left_or_at_the_end():
    inspector = Paper(first={0: 4})
    asked = begin(TAKES, POSITION, Target(place=TargetKind.TIME, at=50), inspector)
    assert any("orders[1] has no record at or after" in one for one in asked.blockers)
    left = Target(place=TargetKind.TIME, at=50, silent=Silent.LEAVE)
    found = begin(TAKES, POSITION, left, inspector)
    assert offsets(found)["orders"] == {0: 4, 1: 3}
    said = [one for one in found.risks if "orders[2] has no committed offset" in one]
    assert said[0].endswith("Spark reads the partition from the earliest offset"), found.risks
    end = Target(place=TargetKind.TIME, at=50, silent=Silent.END)
    assert offsets(begin(TAKES, POSITION, end, inspector))["orders"] == {0: 4, 1: 10, 2: 10}


def test_only_what_was_chosen_moves():
    target = Target(place=TargetKind.BEGINNING)
    found = begin(TAKES, POSITION, target, Paper(), {"orders": [1]})
    assert offsets(found)["orders"] == {0: 7, 1: 2}


@pytest.mark.parametrize(
    "target", [CARRY, Target(place=TargetKind.BEGINNING), Target(place=TargetKind.OFFSET, offset=5)]
)
def test_offsets_of_partitions_that_the_topic_lacks_are_told_apart(target):
    found = begin(TAKES[:1], POSITION, target, Paper(ends=(10,)))
    assert found.blockers == [
        "the checkpoint has offsets of 2 partitions of orders, but the topic has only partition 0. "
        "It lacks orders[1]: the topic was recreated, or this is another cluster. To reprocess the "
        "records of this topic, use `headgate plan from-scratch`"
    ]
    assert list(offsets(found)["orders"]) == [0]
    listed = (Listed(topic="orders", partition=4, offset=9),)
    more = begin(
        TAKES[:1],
        POSITION,
        Target(place=TargetKind.LISTED, listed=listed),
        Paper(),
        {"orders": [4]},
    )
    assert more.blockers == [
        "topic orders has no partition 4, only partitions 0 to 2. Choose an existing partition"
    ]


@pytest.mark.parametrize(
    "target",
    [
        Target(place=TargetKind.BEGINNING),
        Target(place=TargetKind.TIME, at=50),
        Target(place=TargetKind.END),
        Target(place=TargetKind.SHIFT, by=-1),
    ],
)
def test_files_keep_their_position_if_topics_are_chosen(target):
    inspector = Paper(first={0: 4, 1: 4, 2: 4})
    found = begin(TAKES, POSITION, target, inspector, {"orders": []})
    assert found.blockers == [] and found.files == 0
    assert files(found) == Beginning(name="1", files_of="1", entry=4)
    assert found.risks == [
        "source 1 reads files, and --topic selects only topics: the new checkpoint keeps the "
        "source's position"
    ]
    # All partitions of the topic were chosen, as without a choice.
    assert offsets(found) == offsets(begin(TAKES[:1], POSITION, target, inspector))


@pytest.mark.parametrize(
    ("takes", "inspector", "target", "sentence"),
    [
        (
            (Take(name="0", of=("7",)),),
            Paper(),
            CARRY,
            "the checkpoint has no source 7. Its sources: 0, 1, 2. Pass one of these with --source",
        ),
        ((Take(name="0", of=("2",)),), Paper(), CARRY, "neither Kafka nor files"),
        ((Take(name="0", of=("0", "1")),), Paper(), CARRY, "can't be merged"),
        (
            TAKES,
            Paper(ends=(5, 5)),
            CARRY,
            "the committed offset 7 of orders[0] is beyond the latest offset",
        ),
        (
            TAKES,
            Paper(cluster=False),
            Target(place=TargetKind.END),
            "no Kafka cluster is configured",
        ),
    ],
)
def test_what_can_t_be_is_refused(takes, inspector, target, sentence):
    found = begin(takes, POSITION, target, inspector)
    assert any(sentence in one for one in found.blockers), found.blockers


def test_without_a_cluster_it_is_carried_unseen():
    assert offsets(begin(TAKES, POSITION, CARRY, Paper(cluster=False)))["orders"] == {0: 7, 1: 3}


def test_a_beginning_comes_back_from_the_journal():
    beginnings = begin(TAKES, POSITION, CARRY, Paper()).beginnings
    assert beginnings
    for one in beginnings:
        assert read_beginning(one.document()) == one
