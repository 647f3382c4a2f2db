"""What one form does not tell is no difference: no verdict about one and the same pipeline."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from headgate.rules.core.report import Outcome
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.evidence.read_version import read_version

ROOT = Path(__file__).parents[2] / "golden" / "spark" / "4.2.0"
# Spark itself refuses to go on with a memory sink in append mode, whatever else is equal.
REFUSED = {"sink_memory": ["SNK003"]}


@cache
def read(place):
    return read_version([str(ROOT / place)])


def wrong(before, after):
    report = compare_read(read(before), read(after))
    worse = (Outcome.REFUSES, Outcome.SILENTLY_WRONG)
    return [f.rule for f in report.findings if f.outcome in worse]


def forms(name):
    """The two folders of a query, and each piece of evidence in them alone."""
    folders = [f for f in (ROOT / name / "capture", ROOT / name / "run") if f.is_dir()]
    pieces = [p for f in folders for p in sorted(f.iterdir()) if p.name != "conf.json"]
    return [str(p.relative_to(ROOT)) for p in (*folders, *pieces)]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(p.name for p in ROOT.iterdir()))
def test_a_pipeline_is_no_other_than_itself_in_any_form(name):
    """Every form against the richest folder, both ways, and against the form after it."""
    places = forms(name)
    whole = places[1] if places[1].endswith("/run") else places[0]
    pairs = [*((whole, p) for p in places), *((p, whole) for p in places), *pairwise(places)]
    allowed = REFUSED.get(name, [])
    told = {pair: [r for r in wrong(*pair) if r not in allowed] for pair in pairs}
    assert {pair: found for pair, found in told.items() if found} == {}


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
