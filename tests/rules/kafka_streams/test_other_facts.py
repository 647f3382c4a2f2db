"""What runtimes, listed changelogs and patterns tell, and what half-read evidence does not."""

from dataclasses import replace

import pytest

from headgate.model.kafka_streams import InternalKind, InternalTopic
from headgate.model.version import Engine, Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, UpgradeWay
from headgate.rules.kafka_streams.codes import RULES
from rules.kafka_streams.applications import ID, UPGRADES, application, left_behind

R, W, U, X = Outcome.RESUMES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.REFUSES
STATE_EXCEPTION = "org.apache.kafka.streams.errors.ProcessorStateException"
PATTERN = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: {what})
      --> KSTREAM-SINK-0000000001
    Sink: KSTREAM-SINK-0000000001 (topic: out)
      <-- KSTREAM-SOURCE-0000000000
"""
TWO_COUNTS = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in])
      --> KSTREAM-AGGREGATE-0000000001, KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000001 (stores: [{first}])
      --> none
      <-- KSTREAM-SOURCE-0000000000
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [{second}])
      --> none
      <-- KSTREAM-SOURCE-0000000000
"""
OF_A_TABLE = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in])
      --> KSTREAM-AGGREGATE-0000000001
    Processor: KSTREAM-AGGREGATE-0000000001 (stores: [counts])
      --> {operator}
      <-- KSTREAM-SOURCE-0000000000
    Processor: {operator} (stores: [{stores}])
      --> KTABLE-TOSTREAM-0000000003
      <-- KSTREAM-AGGREGATE-0000000001
    Processor: KTABLE-TOSTREAM-0000000003 (stores: [])
      --> KSTREAM-SINK-0000000004
      <-- {operator}
    Sink: KSTREAM-SINK-0000000004 (topic: out)
      <-- KTABLE-TOSTREAM-0000000003
"""
FILTER = {"operator": "KTABLE-FILTER-0000000002", "stores": "rows"}
SUPPRESS = {"operator": "KTABLE-SUPPRESS-0000000002", "stores": "held-store"}


def described(folder, name="sink_replaced", config=None, text=None):
    text = text or (UPGRADES / name / "before.txt").read_text()
    return application(folder, text, config or {}, {"in": 2, "in2": 2})


def rules(report):
    return {f.rule: f for f in report.findings}


@pytest.mark.parametrize(
    ("was", "now", "name", "outcome", "rule"),
    [
        ("4.3.1", "4.2.0", "sink_replaced", X, "KST090"),
        ("4.0.0", "3.9.1", "sink_replaced", X, "KST090"),
        ("4.2.0", "4.1.0", "sink_replaced", R, None),
        ("4.3.1", "4.2.0", "input_replaced_without_state", R, "KST090"),
        ("3.6.0", "3.4.0", "filter_in_front_of_key_select", U, "KST091"),
        ("3.4.0", "4.3.1", "sink_replaced", R, "KST091"),
        ("4.2.0", "4.3.1", "sink_replaced", R, "KST091"),
    ],
)
def test_versions_of_the_runtime(was, now, name, outcome, rule, tmp_path):
    version = left_behind(described(tmp_path, name))
    report = compare(replace(version, engine_version=was), replace(version, engine_version=now))
    assert report.outcome is outcome
    assert rule is None or rules(report)[rule].outcome is outcome
    if outcome is X:
        assert rules(report)["KST090"].error_class == STATE_EXCEPTION


def test_an_upgrade_over_3_5_takes_two_bounces(tmp_path):
    version = left_behind(described(tmp_path))
    report = compare(
        replace(version, engine_version="3.4.0"), replace(version, engine_version="4.3.1")
    )
    assert report.upgrade is not None
    assert report.upgrade.way is UpgradeWay.ROLLING
    assert "upgrade.from=3.4" in report.upgrade.steps[0]


@pytest.mark.parametrize(
    ("old", "new", "outcome", "rule"),
    [
        ({"cleanup.policy": "compact"}, {"cleanup.policy": "compact,delete"}, X, "KST080"),
        ({"retention.ms": "87000000"}, {"retention.ms": "88200000"}, W, "KST081"),
        ({"cleanup.policy": "compact,delete"}, {"cleanup.policy": "delete,compact"}, U, "KST000"),
    ],
)
def test_changelogs_that_both_versions_list_tell_the_kind_of_store(
    old, new, outcome, rule, tmp_path
):
    version = described(tmp_path)
    assert version.streams is not None

    def listed(configs):
        topic = InternalTopic(
            name=f"{ID}-counts-changelog",
            kind=InternalKind.CHANGELOG,
            partitions=2,
            configs={"cleanup.policy": "compact"} | configs,
        )
        return replace(version, streams=replace(version.streams, internal=(topic,)))

    report = compare(listed(old), listed(new))
    assert report.outcome is outcome
    assert rule in rules(report)


def test_patterns(tmp_path):
    topic = PATTERN.format(what="[in]")
    old = described(tmp_path / "1", text=PATTERN.format(what="in.*"))
    new = described(tmp_path / "2", text=PATTERN.format(what="more[0-9]+"))
    named = described(tmp_path / "3", text=topic)
    streams = described(
        tmp_path / "4", text=PATTERN.format(what="in.*"), config={"group.protocol": "streams"}
    )
    assert rules(compare(old, new))["KST044"].outcome is U
    listed = replace(new, streams=replace(new.streams, inputs={"more7": 1}))
    assert rules(compare(old, listed))["KST044"].outcome is Outcome.RESUMES
    assert "KST044" not in rules(compare(named, named))
    refused = rules(compare(named, streams))["KST062"]
    assert refused.error_class == "java.lang.UnsupportedOperationException"
    assert "KST062" not in rules(compare(named, old))


def test_a_version_without_a_description_gets_no_verdict(tmp_path):
    whole = left_behind(described(tmp_path))
    empty = Version(engine=Engine.KAFKA_STREAMS)
    for pair in ((whole, empty), (empty, whole), (empty, empty)):
        report = compare(*pair)
        assert report.outcome is U
        assert report.upgrade is None
        assert "Topology#describe()" in (rules(report)["KST099"].question or "")


def test_without_internal_topics_it_is_said_what_was_not_judged(tmp_path):
    report = compare(described(tmp_path / "1"), described(tmp_path / "2"))
    assert any("internal topics" in w for w in report.warnings)


def test_every_rule_has_a_code_of_its_own_and_a_reason():
    assert len({r.code for r in RULES}) == len(RULES)
    assert all(r.code.startswith("KST") and len(r.why) > 60 and r.source for r in RULES)


def test_an_inserted_operator_is_one_added_node(tmp_path):
    name = "named_operator_in_front_of_named_count"
    after = (UPGRADES / name / "after.txt").read_text()
    old, new = described(tmp_path / "1", name), described(tmp_path / "2", text=after)
    (change,) = compare(old, new).changes
    assert (change.kind.value, change.before) == ("added", None)
    node = new.topology.node(change.after or "")
    assert node is not None
    assert "trim" in str(node.details.get("described_as"))


def test_consumers_are_told_of_the_output_that_changed(tmp_path):
    def writing(name, sink):
        text = PATTERN.format(what="[in]").replace("(topic: out)", f"({sink})")
        return left_behind(described(tmp_path / name, text=text))

    out, other = writing("out", "topic: out"), writing("other", "topic: other")
    remedies = {f.remedy for f in compare(out, other).findings if f.rule == "KST045"}
    assert remedies == {
        "Inform the consumers of the output out: they get no new records.",
        "If consumers of the output other need older results, replay the inputs under a new "
        "application id.",
    }
    first, then = (
        writing(at, f"extractor class: Cases$$Lambda$12/0x00007f@{at}") for at in ("1a", "2b")
    )
    assert "KST045" not in rules(compare(first, then))
    found = rules(compare(replace(out, streams=replace(out.streams, sinks=())), first))["KST045"]
    assert found.why.startswith("The output of TopicNameExtractor Cases$$Lambda is new.")


@pytest.mark.parametrize(
    ("first", "second", "is_reported"),
    [("stock", "sales", True), ("sales", "stock", False)],
)
def test_equal_operators_whose_stores_are_swapped(first, second, is_reported, tmp_path):
    folders = tmp_path / "old", tmp_path / "new"
    texts = (
        TWO_COUNTS.format(first="sales", second="stock"),
        TWO_COUNTS.format(first=first, second=second),
    )
    old, new = (described(f, text=text) for f, text in zip(folders, texts, strict=True))
    found = rules(compare(left_behind(old), new))
    assert ("KST008" in found) is is_reported
    if is_reported:
        assert found["KST008"].outcome is U
        assert "The stores sales and stock are swapped." in found["KST008"].why


@pytest.mark.parametrize(
    ("old", "new"), [(FILTER, SUPPRESS), (SUPPRESS, FILTER)], ids=["by suppress", "of suppress"]
)
def test_a_store_that_replaces_or_is_a_buffer_is_asked_about(old, new, tmp_path):
    before, after = (
        described(tmp_path / side["stores"], text=OF_A_TABLE.format(**side)) for side in (old, new)
    )
    found = rules(compare(left_behind(before), after))["KST003"]
    assert (found.outcome, found.before, found.after) == (U, old["stores"], new["stores"])
    assert found.question is not None and new["stores"] in found.question


@pytest.mark.parametrize("stores", ["rows", "cache, rows"], ids=["kept", "kept with a cache"])
def test_a_table_of_a_named_operator_that_gets_stores_is_asked_about(stores, tmp_path):
    """A table of a generated name that Kafka Streams ran with this change lost a retraction."""
    before, after = (
        described(tmp_path / name, text=OF_A_TABLE.format(operator="work", stores=told))
        for name, told in (("1", ""), ("2", stores))
    )
    found = [f for f in compare(left_behind(before), after).findings if f.rule == "KST007"]
    assert [(f.outcome, f.after) for f in found] == [(U, name) for name in stores.split(", ")]
    assert all("Is the operator work a table filter?" in (f.question or "") for f in found)
