"""What one form does not tell is no difference: no verdict about one and the same pipeline."""

from functools import cache
from pathlib import Path

import pytest

from headgate.compat.report import Outcome
from headgate.usecases.compare_versions import compare_read
from headgate.usecases.read_version import read_version

ROOT = Path(__file__).parents[1] / "golden" / "spark" / "4.2.0"
AGGREGATES = sorted(
    p.parents[1].name
    for p in ROOT.glob("*/capture/simple.txt")
    if "StateStoreSave" in p.read_text()
)
# Kinds of windows over windows read apart in one-line plans: `window_time` is there spelt out.
APART = {"window_of_windows"}


@cache
def read(place):
    return read_version([str(ROOT / place)])


def wrong(before, after):
    report = compare_read(read(before), read(after))
    worse = (Outcome.REFUSES, Outcome.SILENTLY_WRONG)
    return [f.rule for f in report.findings if f.outcome in worse]


@pytest.mark.parametrize("name", [n for n in AGGREGATES if n not in APART])
def test_a_one_line_plan_says_nothing_of_what_an_aggregation_stores(name):
    assert wrong(f"{name}/capture/simple.txt", f"{name}/capture/cost.txt") == []
    assert wrong(f"{name}/capture/cost.txt", f"{name}/capture/simple.txt") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sink_file_partitioned/run", "sink_file_partitioned/run/explain.txt"),
        ("sink_file_partitioned/run/events.jsonl", "sink_file_partitioned/run"),
        ("source_kafka_pattern/run", "source_kafka_pattern/capture"),
        ("source_kafka_pattern/run", "source_kafka_pattern/run/events.jsonl"),
        ("source_named/run", "source_named/run/events.jsonl"),
        ("static_join_left/run", "static_join_left/run/events.jsonl"),
        ("static_join_on_the_left/run/events.jsonl", "static_join_on_the_left/run"),
        ("subquery_in/run", "subquery_in/run/events.jsonl"),
    ],
)
def test_what_a_form_leaves_out_is_no_change(before, after):
    assert wrong(before, after) == []


def test_partitions_that_both_sides_tell_are_judged():
    assert read("sink_file_partitioned/run").sink.partition_by == ("k",)
    assert read("source_json/run").sink.partition_by == ()
    assert read("source_json/run/events.jsonl").sink.partition_by is None


def test_progress_tells_which_scan_of_a_batch_is_a_stream():
    version = read("static_join_left/run/events.jsonl")
    (source,) = version.sources
    assert version.topology.node(source.node).kind == "source"
    assert source.node == read("static_join_left/run").sources[0].node
    assert not any("number of sources" in w for w in version.warnings)
