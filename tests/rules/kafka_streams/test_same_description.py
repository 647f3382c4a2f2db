"""Upgrades of one description: settings, partitions, the protocol and the cluster decide."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.kafka_streams import GroupSubtopology, GroupTopic
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, UpgradeWay
from rules.kafka_streams.applications import ID, UPGRADES, application, left_behind, upgrade

R, N, W, U, X = (
    Outcome.RESUMES,
    Outcome.NO_EFFECT,
    Outcome.SILENTLY_WRONG,
    Outcome.UNKNOWN,
    Outcome.REFUSES,
)
COUNT = ("sink_replaced", "before")
TABLE = ("named_table_operator_in_front", "before")
JOIN = ("named_stream_join_filter_in_front", "before")
STATELESS = ("input_replaced_without_state", "before")
GROUPED = ("filter_in_front_of_key_select", "before")
REPARTITIONED = ("repartition_put_in", "after")
STREAMS_EXCEPTION = "org.apache.kafka.streams.errors.StreamsException"
TOPOLOGY_EXCEPTION = "org.apache.kafka.streams.errors.TopologyException"
STATE_EXCEPTION = "org.apache.kafka.streams.errors.ProcessorStateException"
CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"
PROTOCOL = {"group.protocol": "streams"}
EOS = {"processing.guarantee": "exactly_once_v2"}
ALL = {"topology.optimization": "all"}
OTHER_ID = {"application.id": "other"}

SETTINGS = [
    # topology, before, after, outcome, rule, error class
    (COUNT, {}, {}, U, "KST000", None),
    (STATELESS, {}, {}, U, "KST000", None),
    (COUNT, {"num.stream.threads": "2"}, {}, R, "KST083", None),
    (GROUPED, {"num.stream.threads": "2"}, {}, U, "KST000", None),
    (COUNT, {}, {"replication.factor": "3"}, N, "KST079", None),
    (GROUPED, {}, {"replication.factor": "3"}, U, "KST000", None),
    (COUNT, {}, {"default.timestamp.extractor": "a.B"}, U, "KST076", None),
    (COUNT, {}, EOS, R, "KST072", None),
    (COUNT, EOS, {}, R, "KST072", None),
    (COUNT, EOS, {"processing.guarantee": "exactly_once"}, X, "KST073", CONFIG_EXCEPTION),
    (COUNT, {}, {"upgrade.from": "2.3"}, X, "KST073", CONFIG_EXCEPTION),
    (COUNT, {}, {"upgrade.from": "4.2"}, U, "KST000", None),
    (COUNT, {}, {"group.protocol": "consumer"}, X, "KST073", CONFIG_EXCEPTION),
    (COUNT, {}, {"dsl.store.format": "headers"}, R, "KST074", None),
    (TABLE, {}, ALL, R, "KST071", None),
    (TABLE, ALL, {}, U, "KST071", None),
    (COUNT, {"dsl.store.format": "HEADERS"}, {}, X, "KST074", STATE_EXCEPTION),
    (COUNT, {}, {"dsl.store.format": "HEADERS"}, R, "KST074", None),
    (STATELESS, {"dsl.store.format": "HEADERS"}, {}, R, "KST074", None),
    (COUNT, {}, {"default.dsl.store": "in_memory"}, R, "KST075", None),
    (COUNT, {"default.value.serde": "a.B"}, {"default.value.serde": "a.C"}, U, "KST076", None),
    (COUNT, {"state.dir": "/a"}, {"state.dir": "/b"}, R, "KST077", None),
    (COUNT, {}, {"auto.offset.reset": "latest"}, U, "KST078", None),
    (COUNT, {}, {"main.consumer.auto.offset.reset": "latest"}, U, "KST078", None),
    (COUNT, {}, {"auto.offset.reset": "earliest"}, U, "KST000", None),
    (COUNT, {}, {"application.id": "other"}, W, "KST070", None),
    (COUNT, {}, OTHER_ID | {"auto.offset.reset": "none"}, X, "KST070", STREAMS_EXCEPTION),
    (COUNT, {}, PROTOCOL, R, "KST061", None),
    (COUNT, PROTOCOL, {}, R, "KST061", None),
    (COUNT, PROTOCOL, PROTOCOL | {"group.instance.id": "one"}, X, "KST063", CONFIG_EXCEPTION),
    (TABLE, PROTOCOL, PROTOCOL | ALL, X, "KST060", STREAMS_EXCEPTION),
    (COUNT, PROTOCOL, PROTOCOL | EOS, R, "KST072", None),
]


@pytest.mark.parametrize(("which", "before", "after", "outcome", "rule", "error"), SETTINGS)
def test_settings(which, before, after, outcome, rule, error, tmp_path):
    report = upgrade(tmp_path, which[0], sides=(which[1],) * 2, config=(before, after))
    told = {f.rule: f for f in report.findings}
    assert report.outcome is outcome, told
    assert told[rule].outcome is outcome
    assert told[rule].error_class == error


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("earliest", "writes all results a second time."),
        ("latest", "Kafka Streams skips unread records."),
        ("none", "fails, because it has no offset to start at."),
        ("by_duration:PT1H", "some results a second time, or skips unread records."),
    ],
)
def test_a_new_id_says_what_the_reset_policy_does(policy, said, tmp_path):
    config = {"auto.offset.reset": policy}
    report = upgrade(tmp_path, COUNT[0], sides=(COUNT[1],) * 2, config=(config, config | OTHER_ID))
    (why,) = (f.why for f in report.findings if f.rule == "KST070")
    assert f"With auto.offset.reset={policy.lower()}, Kafka Streams" in why and said in why


def test_the_question_asks_for_what_the_application_has(tmp_path):
    serdes = {"default.value.serde": "a.B"}
    asked = []
    for at, (which, config) in enumerate(((STATELESS, {}), (COUNT, {}), (COUNT, serdes))):
        folder = tmp_path / str(at)
        folder.mkdir()
        report = upgrade(folder, which[0], sides=(which[1],) * 2, config=(config, config))
        asked += [f.question for f in report.findings if f.rule == "KST000"]
    assert ["window" in q for q in asked] == [False, True, True]
    assert ["serdes in the code" in q for q in asked] == [False, False, True]


PARTITIONS = [
    # topology, the inputs' partitions before and after, settings, outcome, rule, error class
    (COUNT, {"in": 2}, {"in": 4}, {}, X, "KST030", STREAMS_EXCEPTION),
    (COUNT, {"in": 2}, {"in": 4}, PROTOCOL, X, "KST030", TOPOLOGY_EXCEPTION),
    (GROUPED, {"in": 2}, {"in": 4}, {}, X, "KST030", STREAMS_EXCEPTION),
    (REPARTITIONED, {"in": 2}, {"in": 4}, {}, R, "KST032", None),
    (REPARTITIONED, {"in": 8}, {"in": 4}, {}, R, "KST032", None),
    (STATELESS, {"in": 2}, {"in": 4}, {}, R, "KST032", None),
    (STATELESS, {"in": 2}, {"in": 4}, PROTOCOL, R, "KST032", None),
    (TABLE, {"in": 2, "in2": 2}, {"in": 2, "in2": 4}, {}, X, "KST030", STREAMS_EXCEPTION),
    (TABLE, {"in": 2, "in2": 2}, {"in": 4, "in2": 4}, ALL, W, "KST033", None),
    (JOIN, {"in": 2, "in2": 2}, {"in": 2, "in2": 1}, {}, W, "KST031", None),
    (JOIN, {"in": 2, "in2": 2}, {"in": 2, "in2": 1}, PROTOCOL, X, "KST031", TOPOLOGY_EXCEPTION),
    (JOIN, {"in": 2, "in2": 2}, {"in": 2}, {}, U, "KST000", None),
]


@pytest.mark.parametrize(
    ("which", "before", "after", "config", "outcome", "rule", "error"), PARTITIONS
)
def test_partitions(which, before, after, config, outcome, rule, error, tmp_path):
    report = upgrade(
        tmp_path, which[0], sides=(which[1],) * 2, inputs=(before, after), config=(config, config)
    )
    told = {f.rule: f for f in report.findings}
    assert report.outcome is outcome, told
    assert told[rule].outcome is outcome
    assert told[rule].error_class == error


def test_the_number_that_a_streams_group_has_is_not_taken_for_one_that_the_code_fixes(tmp_path):
    """The broker answers what a repartition topic has, whoever decided it (Kafka 4.3.1)."""
    text = (UPGRADES / GROUPED[0] / f"{GROUPED[1]}.txt").read_text()
    before, after = (
        application(tmp_path / str(count), text, PROTOCOL, {"in": count}) for count in (2, 4)
    )
    app = left_behind(before).streams
    kept = tuple(GroupTopic(name=r.topic, partitions=2) for r in app.repartitions)
    app = replace(app, group_topology=(GroupSubtopology(id="1", repartition_sources=kept),))
    report = compare(replace(before, streams=app), after)
    told = {f.rule: f for f in report.findings}
    assert kept and report.outcome is X
    assert told["KST030"].error_class == TOPOLOGY_EXCEPTION


@pytest.mark.parametrize(
    ("name", "outcome", "rule"),
    [
        ("named_operator_in_front_of_named_count", R, None),
        ("sink_replaced", R, None),
        ("split_added", R, None),
        ("global_table_added", R, None),
        ("named_subtopologies_swapped", X, "KST060"),
        ("topic_added_to_list", X, "KST060"),
        ("named_branch_added", X, "KST060"),
        ("repartition_named", X, "KST060"),
        ("unnamed_counts_of_one_input_swapped", W, "KST002"),
    ],
)
def test_the_streams_protocol_refuses_other_inputs_and_internal_topics_only(
    name, outcome, rule, tmp_path
):
    report = upgrade(tmp_path, name, config=(PROTOCOL, PROTOCOL))
    assert report.outcome is outcome
    assert rule is None or rule in {f.rule for f in report.findings if f.outcome is outcome}
    if outcome is X:
        assert report.upgrade is not None
        assert report.upgrade.way is UpgradeWay.OFFLINE


def test_state_without_a_changelog_is_lost_where_its_directory_changes(tmp_path):
    moved = upgrade(tmp_path / "1", "named_subtopologies_swapped", unlogged=("one",))
    config = {"state.dir": "/a"}, {"state.dir": "/b"}
    lost = upgrade(
        tmp_path / "2", COUNT[0], sides=("before",) * 2, config=config, unlogged=("counts",)
    )
    grown = upgrade(
        tmp_path / "3",
        COUNT[0],
        sides=("before",) * 2,
        inputs=({"in": 2}, {"in": 4}),
        unlogged=("counts",),
    )
    assert {r.outcome for r in (moved, lost, grown)} == {W}
    assert [r.findings[0].rule for r in (moved, lost, grown)] == ["KST051", "KST077", "KST033"]


def test_a_store_without_a_changelog_does_not_move_between_disk_and_memory(tmp_path):
    config = {}, {"default.dsl.store": "in_memory"}
    report = upgrade(tmp_path, COUNT[0], sides=("before",) * 2, config=config, unlogged=("counts",))
    (finding,) = (f for f in report.findings if f.rule == "KST075")
    assert report.outcome is finding.outcome is W
    assert "The store counts has no changelog." in finding.why


def test_a_new_store_with_an_old_ones_changelog_takes_its_stale_rows(tmp_path):
    report = upgrade(tmp_path, "named_branch_added", stale=("two",))
    assert (report.outcome, report.findings[0].rule) == (W, "KST005")


def test_a_declared_rename_pairs_the_stores_and_saves_no_state(tmp_path):
    old = "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
    report = upgrade(tmp_path, "unnamed_count_named", renames=(f"store:{old}=counts",))
    (finding,) = (f for f in report.findings if f.rule == "KST001")
    assert finding.outcome is W
    assert (finding.before, finding.after) == (old, "counts")
    assert "declared" in finding.why
    assert old in finding.remedy


CHANGELOG = f"{ID}-counts-changelog"


def cluster(lag: Mapping[str, int], missing: tuple[str, ...] = ()) -> Cluster:
    """Two partitions a topic with ten records each; the group's lag is on partition 0."""
    topics = {
        name: Topic(
            name=name, partitions=tuple(Partition(number=i, begin=0, end=10) for i in (0, 1))
        )
        for name in ("in", "in2", CHANGELOG, *lag)
        if name not in missing
    }
    offsets = tuple(
        GroupOffset(topic=name, partition=i, offset=10 - (lag.get(name, 0) if i == 0 else 0))
        for name in topics
        for i in (0, 1)
    )
    group = Group(id=ID, type=GroupType.CLASSIC, state="empty", members=(), offsets=offsets)
    return Cluster(
        id="c", at="2026-01-01T00:00:00Z", bootstrap="x:1", topics=topics, groups={ID: group}
    )


REPARTITION = f"{ID}-KSTREAM-REPARTITION-0000000001-repartition"


@pytest.mark.parametrize(("lag", "outcome"), [(0, R), (3, W)])
def test_the_groups_lag_tells_whether_records_wait_in_a_repartition_topic(lag, outcome, tmp_path):
    report = upgrade(tmp_path, "unnamed_repartition_shifts", cluster=cluster({REPARTITION: lag}))
    (finding,) = (f for f in report.findings if f.rule == "KST020")
    assert finding.outcome is outcome
    assert report.outcome is outcome


def test_a_repartition_topic_that_was_purged_to_its_end_holds_nothing(tmp_path):
    report = upgrade(tmp_path, "unnamed_repartition_shifts", drained=True)
    assert report.outcome is R


def test_where_every_partition_has_its_offset_the_reset_policy_has_no_effect(tmp_path):
    config = {}, {"auto.offset.reset": "latest"}
    report = upgrade(tmp_path, COUNT[0], sides=("before",) * 2, config=config, cluster=cluster({}))
    assert (report.outcome, report.findings[0].rule) == (N, "KST078")


def test_an_input_that_is_not_on_the_cluster_stops_the_application(tmp_path):
    report = upgrade(tmp_path, "topic_added_to_list", cluster=cluster({}, missing=("in2",)))
    finding = report.findings[0]
    assert (finding.outcome, finding.rule) == (X, "KST043")
    assert finding.error_class == "org.apache.kafka.streams.errors.MissingSourceTopicException"


def test_an_input_whose_partitions_nobody_named_is_asked_for(tmp_path):
    report = upgrade(tmp_path, "topic_added_to_list", inputs=({"in": 2}, {"in": 2}))
    assert (report.outcome, report.findings[0].rule) == (U, "KST043")
    assert "in2" in (report.findings[0].question or "")


def test_a_topic_that_was_declared_to_be_renamed_is_asked_about(tmp_path):
    name = "input_replaced_under_named_count"
    report = upgrade(tmp_path, name, renames=("source:in=in2",))
    (finding,) = (f for f in report.findings if f.rule == "KST042")
    assert (report.outcome, finding.outcome) == (U, U)


def grouped(inspector: Cluster, **groups: Group) -> Cluster:
    """The cluster with these groups only."""
    return replace(inspector, groups=groups)


@pytest.mark.parametrize(
    ("config", "inspector", "outcome", "rule"),
    [
        (({}, EOS), grouped(cluster({})), W, "KST100"),
        (({}, {"auto.offset.reset": "none"}), grouped(cluster({})), X, "KST100"),
        (({}, EOS), cluster({}, missing=(CHANGELOG,)), W, "KST101"),
        (({}, {}), cluster({}, missing=(CHANGELOG,)), U, "KST101"),
        (({}, EOS), grouped(cluster({}), **{ID: Group(id=ID, members=())}), R, "KST072"),
        (({}, PROTOCOL), grouped(cluster({}), **{ID: Group(id=ID, members=())}), R, "KST061"),
        (
            ({}, PROTOCOL),
            grouped(cluster({}), **{ID: Group(id=ID, members=(Member(id="m"),))}),
            X,
            "KST102",
        ),
    ],
)
def test_the_cluster_tells_what_became_of_group_and_changelogs(
    config, inspector, outcome, rule, tmp_path
):
    report = upgrade(
        tmp_path, COUNT[0], sides=("before",) * 2, config=config, cluster=inspector, partitions=2
    )
    told = {f.rule: f.outcome for f in report.findings}
    assert (report.outcome, told.get(rule)) == (outcome, outcome), told
