"""What the recorded kinds of upgrades are on other evidence: no list of topics, a cluster's lag."""

import json
import shutil
from pathlib import Path

import pytest

from headgate.model.cluster import Cluster, Group, GroupOffset, Partition, Topic
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[2] / "cases" / "streams_kinds"


def sides(case: str):
    return [read_version([str(CASES / case / side)]) for side in ("before", "after")]


def test_without_the_changelogs_settings_suppress_is_asked_about(tmp_path):
    shutil.copytree(CASES / "suppress_added_for_new_output", tmp_path / "case")
    (tmp_path / "case" / "before" / "internal_topics.json").unlink()
    before, after = (read_version([str(tmp_path / "case" / s)]) for s in ("before", "after"))
    (finding,) = (f for f in compare(before, after).findings if f.rule == "KST009")
    assert finding.outcome is Outcome.UNKNOWN
    assert "window" in (finding.question or "")


@pytest.mark.parametrize(("lag", "outcome"), [(0, Outcome.RESUMES), (3, Outcome.SILENTLY_WRONG)])
def test_lag_on_an_own_topic_that_is_no_longer_read_is_lost(lag, outcome):
    case = CASES / "own_topic_taken_out"
    name = json.loads((case / "before" / "config.json").read_text())["application.id"]
    before, after = sides("own_topic_taken_out")
    (own,) = (t for t in before.streams.inputs if t.endswith("in3"))
    topics = {
        t: Topic(name=t, partitions=(Partition(number=0, begin=0, end=10),))
        for t in (*before.streams.inputs, *before.streams.expected_topics())
    }
    offsets = tuple(
        GroupOffset(topic=t, partition=0, offset=10 - (lag if t == own else 0)) for t in topics
    )
    cluster = Cluster(
        id="c",
        at="2026-01-01T00:00:00Z",
        bootstrap="x:1",
        topics=topics,
        groups={name: Group(id=name, state="empty", members=(), offsets=offsets)},
    )
    found = {
        f.before: f for f in compare(before, after, cluster=cluster).findings if f.rule == "KST041"
    }
    assert found[own].outcome is outcome
