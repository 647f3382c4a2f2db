"""What runs beside what was judged, over plans that Spark wrote before and while it ran."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.model.cluster import Group, GroupType, Member
from headgate.model.kafka_streams import (
    GroupSubtopology,
    GroupTopic,
    Repartition,
    StreamsApplication,
    StreamsProcessor,
    StreamsSource,
    StreamsStore,
)
from headgate.model.version import Engine, Evidence, Sink, Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.compare.running_kafka_streams import liken_group
from headgate.rules.compare.running_version import match_versions
from headgate.usecases.compare.compare_versions import read_side

ROOT = Path(__file__).parents[2]
GOLDEN, CASES = ROOT / "golden" / "spark" / "4.2.0", ROOT / "cases" / "spark"
# What a watch tells of a running query.
TOLD = ("explain.txt", "capture.json", "logical.json")
CHANGED = {
    "agg_min_to_max": "(max(s0.v) -> min(s0.v), AGG002)",
    "agg_add_column": "STA002",
    "agg_key_rename": "The output no longer has the field kk",
    "agg_map_add": "The stateless operator project was removed (v -> none, TRF001)",
    "dedup_within_wm_delay": "(1 minutes -> 10 seconds, WMK002)",
    "kafka_topic_change": "KAF001",
    "kafka_max_offsets": "Option maxoffsetspertrigger changed",
    "limit_change": "The row limit changed from 5 to 4",
    "op_add_before": "OPS001",
    "sink_file_partition_by": "SNK002",
}
WATCHED = Evidence(kind="watch", path="the watch")


@pytest.fixture
def told(tmp_path):
    def read(folder, names=TOLD, evidence=WATCHED):
        place = tmp_path / "told"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in names:
            if (folder / name).exists():
                shutil.copy(folder / name, place)
        found = read_side((str(place),), None)
        return replace(found, evidence=(evidence,))

    return read


@pytest.mark.parametrize(
    "name",
    [
        "aggregate_by_key",
        "aggregate_object_hash",
        "aggregate_reduce_groups",
        "chain_static_join_aggregate",
        "deduplicate_within_watermark",
        "limit_five",
        "sink_file_partitioned",
        "sink_table",
        "source_file_metadata",
        "source_kafka_from_json",
        "stream_join_left",
        "subquery_scalar",
        "transform_with_state_event_time",
        "window_session",
    ],
)
def test_a_version_is_like_itself_when_it_runs(told, name):
    judged = read_side((str(GOLDEN / name / "capture"),), None)
    assert not match_versions(judged, told(GOLDEN / name / "run")).differs
    assert not match_versions(judged, told(GOLDEN / name / "run", ("explain.txt",))).differs
    # A UI and an event log have a plan in other words: it may not be called another one for that.
    log = Evidence(kind="event-log", path="the log")
    assert not match_versions(judged, told(GOLDEN / name / "run", ("formatted.txt",), log)).differs


@pytest.mark.parametrize(("name", "said"), CHANGED.items())
def test_another_version_is_told_apart(told, name, said):
    judged = read_side((str(CASES / name / "after"),), None)
    running = told(CASES / name / "before")
    assert said in "; ".join(match_versions(judged, running).differs)


@pytest.mark.parametrize(
    ("form", "was", "now", "differs"),
    [
        ("kafka", "shop.totals", "shop.totals", False),
        ("kafka", "shop.totals", "billing.totals", True),
        ("delta", "spark_catalog.shop.totals", "`totals`", False),
        ("json", "file:/out/", "/out", False),
    ],
)
def test_where_it_writes_is_compared_as_the_sink_names_it(told, form, was, now, differs):
    judged = read_side((str(GOLDEN / "aggregate_by_key" / "capture"),), None)
    running = told(GOLDEN / "aggregate_by_key" / "run")
    sides = (
        replace(v, sink=Sink(format=form, target=at)) for v, at in ((judged, was), (running, now))
    )
    said = [one for one in match_versions(*sides).differs if "SNK00" in one]
    assert [f"kafka {was} -> kafka {now}" in one for one in said] == [True] * differs


def test_the_order_in_which_columns_were_read_is_no_difference(told):
    """A version that comes from a file has its keys sorted, one that was just read has not."""
    judged = read_side((str(GOLDEN / "source_kafka_from_json" / "capture"),), None)
    running = told(GOLDEN / "source_kafka_from_json" / "run")
    turned = tuple(
        replace(n, details={k: _turned(v) for k, v in n.details.items()})
        for n in running.topology.nodes
    )
    assert any(len(n.details.get("columns") or ()) > 1 for n in turned)
    running = replace(running, topology=replace(running.topology, nodes=turned))
    assert not match_versions(judged, running).differs


def _turned(value):
    return dict(reversed(value.items())) if isinstance(value, dict) else value


@pytest.mark.parametrize("name", CHANGED)
def test_what_differs_is_what_diff_finds(told, name):
    judged = read_side((str(CASES / name / "after"),), None)
    running = told(CASES / name / "before")
    report = compare(judged, running)
    found = {f.rule for f in report.findings} | {c.what for c in report.changes}
    said = match_versions(judged, running).differs
    assert said and all(any(x in one for x in found) for one in said)


def test_code_that_no_plan_shows_is_untold_and_no_likeness(told):
    judged = read_side((str(CASES / "fmgws_code_change" / "after"),), None)
    found = match_versions(judged, told(CASES / "fmgws_code_change" / "before"))
    assert not found.differs and "doesn't show the code of map_groups" in found.untold[0]


def test_what_an_event_log_writes_in_other_words_is_untold(told):
    judged = read_side((str(GOLDEN / "static_join_left" / "capture"),), None)
    log = Evidence(kind="event-log", path="the log")
    running = told(GOLDEN / "static_join_left" / "run", ("formatted.txt",), log)
    found = match_versions(judged, running)
    assert not found.differs and "write some operators differently" in found.untold[0]


def test_without_a_plan_nothing_is_told(told):
    judged = read_side((str(GOLDEN / "aggregate_by_key" / "capture"),), None)
    found = match_versions(judged, Version(engine=Engine.SPARK))
    assert not found.differs and found.untold == (
        "the query plan of the running version is not in the evidence",
    )


def test_another_spark_than_was_judged_is_said(told):
    judged = read_side((str(GOLDEN / "aggregate_by_key" / "capture"),), None)
    running = told(GOLDEN / "aggregate_by_key" / "run")
    found = match_versions(
        replace(judged, engine_version="4.2.0"), replace(running, engine_version="4.0.2")
    )
    assert not found.differs
    assert (
        "the running version uses Spark 4.0.2, but the checked version uses Spark 4.2.0"
        in found.untold
    )


APP = StreamsApplication(
    application_id="app",
    described=True,
    processors=(
        StreamsProcessor(name="in", kind="source", operator="source", subtopology=0),
        StreamsProcessor(name="count", kind="processor", operator="aggregate", subtopology=1),
    ),
    sources=(StreamsSource(processor="in", topics=("orders",), subtopology=0),),
    repartitions=(
        Repartition(name="by", topic="app-by-repartition", writes_from=(0,), reads_into=(1,)),
    ),
    stores=(StreamsStore(name="sums", subtopology=1, changelog="app-sums-changelog"),),
)
JUDGED = Version(engine=Engine.KAFKA_STREAMS, streams=APP)
KEPT = (
    GroupSubtopology(id="0", sources=("orders",), repartition_sinks=("app-by-repartition",)),
    GroupSubtopology(
        id="1",
        repartition_sources=(GroupTopic(name="app-by-repartition"),),
        changelogs=(GroupTopic(name="app-sums-changelog"),),
    ),
)


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (KEPT, ""),
        (KEPT[:1], "only the checked version has sub-topology 1"),
        ((*KEPT, GroupSubtopology(id="2")), "only the running version has sub-topology 2"),
        (
            (replace(KEPT[0], sources=("other",)), KEPT[1]),
            "topics of sub-topology 0 differ (running version: other; checked version: orders)",
        ),
        (
            (replace(KEPT[0], repartition_sinks=()), KEPT[1]),
            "repartition topics of sub-topology 0 differ (running version: none; ",
        ),
        (
            (KEPT[0], replace(KEPT[1], changelogs=(GroupTopic(name="app-more-changelog"),))),
            "only the running version has these changelogs in sub-topology 1: app-more-changelog",
        ),
        # Logging may be switched off for a store: a description does not tell.
        ((KEPT[0], replace(KEPT[1], changelogs=())), ""),
    ],
)
def test_the_topology_that_the_broker_keeps_is_compared(kept, said):
    found = liken_group(JUDGED, Group(id="app", type=GroupType.STREAMS, subtopologies=kept))
    assert said in "; ".join(found.differs) and bool(found.differs) is bool(said)
    assert "doesn't show the code of the processors" in found.untold[0]


@pytest.mark.parametrize(
    ("topic", "differs"),
    [("orders", ()), ("strange", ("only the running version reads these topics: strange",))],
)
def test_a_classic_group_shows_only_what_it_reads(topic, differs):
    member = Member(id="m", assignment=((topic, 0), ("app-by-repartition", 0)))
    found = liken_group(JUDGED, Group(id="app", type=GroupType.CLASSIC, members=(member,)))
    assert found.differs == differs and "classic protocol" in found.untold[0]
