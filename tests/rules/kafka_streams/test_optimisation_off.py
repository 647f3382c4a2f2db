"""topology.optimization switched off: tables lose their topic, operators their shared repartition.

The descriptions are shortened ones of Kafka Streams 4.3.1.
"""

import pytest

from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Partition, Topic
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, StateEffect, UpgradeWay
from rules.kafka_streams.applications import ID, application, upgrade

R, U, W = Outcome.RESUMES, Outcome.UNKNOWN, Outcome.SILENTLY_WRONG
TABLE = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000001 (topics: [in])
      --> KTABLE-SOURCE-0000000002
    Processor: KTABLE-SOURCE-0000000002 (stores: [rows])
      --> KTABLE-TOSTREAM-0000000003
      <-- KSTREAM-SOURCE-0000000001
    Processor: KTABLE-TOSTREAM-0000000003 (stores: [])
      --> KSTREAM-SINK-0000000004
      <-- KTABLE-SOURCE-0000000002
    Sink: KSTREAM-SINK-0000000004 (topic: out)
      <-- KTABLE-TOSTREAM-0000000003
"""
OTHER = """   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in2])
      --> none
"""
MOVED = TABLE.replace("Sub-topology: 0", "Sub-topology: 1").replace(
    "Topologies:\n", f"Topologies:\n{OTHER}\n"
)


def switched_off(folder, before, after):
    old, new = (
        application(folder / said, text, {"topology.optimization": said}, {"in": 2, "in2": 2})
        for text, said in ((before, "all"), (after, "none"))
    )
    return compare(old, new)


def test_a_table_that_stays_in_its_tasks_is_asked_about(tmp_path):
    report = switched_off(tmp_path, TABLE, TABLE)
    (finding,) = (f for f in report.findings if f.rule == "KST071")
    assert finding.outcome is U and "state directories" in finding.question


def test_a_table_that_moves_to_other_tasks_loses_its_rows_whatever_is_kept(tmp_path):
    report = switched_off(tmp_path, TABLE, MOVED)
    told = {f.rule: f for f in report.findings}
    assert told["KST071"].outcome is report.outcome is W
    assert told["KST071"].state_effect is StateEffect.LOST
    assert told["KST071"].question is None
    # There is no changelog to restore from.
    assert "KST050" not in told
    assert report.upgrade.way is UpgradeWay.RESET


@pytest.mark.parametrize(("lag", "outcome"), [(None, R), (0, R), (3, W)])
def test_what_waits_in_a_shared_repartition_never_reaches_an_operator_that_leaves_it(
    lag, outcome, tmp_path
):
    off = {"topology.optimization": "all"}, {"topology.optimization": "none"}
    report = upgrade(tmp_path, "named_repartitions_unmerged", config=off, cluster=cluster(lag))
    (finding,) = (f for f in report.findings if f.rule == "KST021")
    assert (finding.before, finding.after) == ("g1-repartition", "g2-repartition")
    assert finding.outcome is outcome


def cluster(lag):
    """Return a cluster with the shared topic, where the group still has `lag` records to read."""
    if lag is None:
        return None
    name = f"{ID}-g1-repartition"
    topics = {
        n: Topic(name=n, partitions=tuple(Partition(number=i, begin=0, end=10) for i in (0, 1)))
        for n in ("in", name)
    }
    offsets = tuple(
        GroupOffset(topic=name, partition=i, offset=10 - (0 if i else lag)) for i in (0, 1)
    )
    group = Group(id=ID, type=GroupType.CLASSIC, state="empty", members=(), offsets=offsets)
    at = "2026-01-01T00:00:00Z"
    return Cluster(id="c", at=at, bootstrap="x:1", topics=topics, groups={ID: group})


def test_the_filter_of_null_keys_is_no_operator_of_the_code(tmp_path):
    merged = upgrade(
        tmp_path,
        "unnamed_repartitions_merged",
        config=({"topology.optimization": "none"}, {"topology.optimization": "all"}),
    )
    assert "KST011" not in {f.rule for f in merged.findings}
