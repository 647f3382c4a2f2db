"""What scenarios that process records as a batch need, and how offsets are written."""

import re
import time
from dataclasses import replace
from datetime import datetime

import pytest

from headgate.errors import ScenarioError
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, OperatorKind, Source, StatefulOperator, Version
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.processed_records import (
    operators_as_batch,
    range_blockers,
    range_rows,
    read_ranges,
    retention_risks,
    source_blockers,
)
from support.flat_ports import FlatPorts

KAFKA = Source(position=0, format="kafka", topics=("t",))


def request(*, version=None, entry_point="m:f"):
    pipeline = Pipeline(name="p", engine=Engine.SPARK, entry_point=entry_point)
    return PlanRequest(scenario="ab", pipeline=pipeline, inspector=None, version=version)


def version(*sources, stateful=()):
    return Version(engine=Engine.SPARK, sources=sources or (KAFKA,), stateful=stateful)


def test_a_query_over_named_topics_is_processed():
    assert source_blockers(request(version=version())) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"entry_point": None}, "sets no `entry_point`"),
        ({}, "headgate capture m:f --pipeline p"),
        (
            {"version": version(KAFKA, Source(position=1, format="rate"))},
            "sources of format rate",
        ),
        ({"version": version(replace(KAFKA, options={"Assign": "{}"}))}, "or `assign`"),
        (
            {"version": version(Source(position=0, format="kafka", pattern="o.*"))},
            "`subscribePattern`",
        ),
    ],
)
def test_what_stands_in_the_way_is_named(wrong, said):
    (reason,) = source_blockers(request(**wrong))
    assert said in reason


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (OperatorKind.MAP_GROUPS, "mapGroupsWithState"),
        (OperatorKind.TRANSFORM_WITH_STATE, "transformWithState"),
        (OperatorKind.DEDUPLICATE_WITHIN_WATERMARK, "dropDuplicatesWithinWatermark"),
        (OperatorKind.LIMIT, "limit()"),
        (OperatorKind.UNKNOWN, "an unknown operator"),
    ],
)
def test_an_operator_that_means_something_else_in_a_batch_is_a_blocker(kind, word):
    found = version(stateful=(StatefulOperator(kind=kind),))
    (reason,) = operators_as_batch(request(), found)
    assert f"the query uses {word}:" in reason
    assert not operators_as_batch(request(), version())


def test_a_version_that_does_not_show_its_state_is_a_blocker():
    (reason,) = operators_as_batch(request(), version(stateful=None))
    assert "headgate capture m:f --pipeline p" in reason


LOG = Topic(
    name="a",
    id="1",
    partitions=(Partition(number=0, begin=5, end=9), Partition(number=1, begin=0, end=0)),
)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a:0:5-9", "a:1:0-0"], None),
        (["a:0:7-7"], None),
        (["a:0:4-9"], r"a\[0\] doesn't have all offsets from 4 to 9\. Pass a range within 5-9 "),
        (["a:0:5-10"], r"a\[0\] doesn't have all offsets from 5 to 10"),
        (["a:2:0-1"], "a has no partition 2"),
        (["a:0:5-9", "b:0:0-1"], "b isn't an input of the query"),
        (["b:0:0-0"], "also pass the offsets of a"),
    ],
)
def test_ranges_outside_of_the_topics_are_blockers(rows, said):
    found = range_blockers(read_ranges(rows, option="scan"), {"a": LOG}, option="scan")
    assert found == [] if said is None else re.search(said, " ".join(found))


def test_ranges_are_written_as_they_are_read():
    rows = ["a:0:5-9", "a:10:1-1", "b.c:2:0-7"]
    assert range_rows(read_ranges(rows, option="offsets")) == rows


@pytest.mark.parametrize("row", ["a", "a:0", "a:0:5", "a:0:5-", "a:x:1-2", ":0:1-2", "a:0:-1-2"])
def test_another_form_of_a_range_is_an_error(row):
    with pytest.raises(ScenarioError, match="--offsets: expected TOPIC:PARTITION:FROM-TO"):
        read_ranges([row], option="offsets")


def test_a_range_that_ends_before_it_begins_is_an_error():
    with pytest.raises(ScenarioError, match="FROM is greater than TO"):
        read_ranges(["a:0:9-5"], option="offsets")


HOUR = 3_600_000
WEEK = 168 * HOUR


class Log(FlatPorts):
    """Partition 0 of a topic: the ages of its records in hours; None for one that has no record."""

    def __init__(self, *ages):
        self.now, self.ages, self.asked = int(time.time() * 1000), ages, 0

    def first_at(self, parts, at):
        self.asked += 1
        young = [n for n, age in enumerate(self.ages) if self.now - age * HOUR >= at]
        return dict.fromkeys(parts, min(young, default=None))


def risks_of(log, begin, *, end=None, rate=None, **facts):
    found = Topic(name="a", **{"retention_ms": WEEK, "cleanup_policy": "delete"} | facts)
    ranges = {"a": {"0": (begin, len(log.ages) if end is None else end)}}
    return retention_risks(log, {"a": found}, ranges, rate)


def test_the_time_at_which_kafka_may_delete_the_first_needed_record_is_said():
    log = Log(200, 166, 90, 1)
    (gone,) = risks_of(log, 0)
    assert gone == (
        "a keeps records for 7 days. At any time, Kafka may delete the first record that the run "
        "needs. Raise retention.ms of a, or start the run soon"
    )
    (soon,) = risks_of(log, 1)
    said = re.search(r"days\. After (\d{4}-\d\d-\d\d \d\d:\d\d) UTC, Kafka may", soon)
    at = datetime.strptime(f"{said[1]} +0000", "%Y-%m-%d %H:%M %z").timestamp() * 1000
    assert abs(at - (log.now + 2 * HOUR)) <= 2 * 60_000
    assert risks_of(log, 2) == []


@pytest.mark.parametrize(
    "facts",
    [{"retention_ms": -1}, {"retention_ms": None}, {"cleanup_policy": "compact"}, {"end": 0}],
)
def test_records_that_stay_or_are_not_read_have_no_such_risk(facts):
    log = Log(200, 166)
    assert risks_of(log, 0, **facts) == []
    assert not log.asked


def test_a_record_stays_as_long_as_newer_ones_before_it():
    assert risks_of(Log(1, 200), 1) == []


def test_a_long_run_looks_further_ahead():
    # 90 h old: it stays for 78 h. At 1000 records/s, 30 million records take 8 h.
    log = Log(90)
    assert risks_of(log, 0, end=1_000_000) == []
    assert len(risks_of(log, 0, end=30_000_000)) == 1
    assert risks_of(log, 0, end=30_000_000, rate=100_000) == []
