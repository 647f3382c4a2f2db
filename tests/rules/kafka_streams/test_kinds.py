"""What the recorded kinds of upgrades are on other evidence: no list of topics, a cluster's lag."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.model.cluster import Cluster, Group, GroupOffset, Partition, Topic
from headgate.model.version import Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.usecases.evidence.read_version import read_version

EVERY = Path(__file__).parents[2] / "cases"
CASES = EVERY / "streams_kinds"
R, U, W = Outcome.RESUMES, Outcome.UNKNOWN, Outcome.SILENTLY_WRONG


def sides(case: str):
    return [read_version([str(EVERY / case / side)]) for side in ("before", "after")]


def lagging(version: Version, lag: dict[str, int]) -> Cluster:
    """A cluster with the version's topics, on which its group has this lag on one partition."""
    app = version.streams
    assert app is not None and app.application_id
    topics = {
        t: Topic(name=t, partitions=(Partition(number=0, begin=0, end=10),))
        for t in (*app.inputs, *app.expected_topics())
    }
    offsets = tuple(GroupOffset(topic=t, partition=0, offset=10 - lag.get(t, 0)) for t in topics)
    group = Group(id=app.application_id, state="empty", members=(), offsets=offsets)
    at = "2026-01-01T00:00:00Z"
    return Cluster(id="c", at=at, bootstrap="x:1", topics=topics, groups={group.id: group})


def test_without_the_changelogs_settings_suppress_is_asked_about(tmp_path):
    shutil.copytree(CASES / "suppress_added_for_new_output", tmp_path / "case")
    (tmp_path / "case" / "before" / "internal_topics.json").unlink()
    before, after = (read_version([str(tmp_path / "case" / s)]) for s in ("before", "after"))
    (finding,) = (f for f in compare(before, after).findings if f.rule == "KST009")
    assert finding.outcome is U
    assert "window" in (finding.question or "")


@pytest.mark.parametrize(("lag", "outcome"), [(0, R), (3, W)])
def test_lag_on_an_own_topic_that_is_no_longer_read_is_lost(lag, outcome):
    before, after = sides("streams_kinds/own_topic_taken_out")
    (own,) = (t for t in before.streams.inputs if t.endswith("in3"))
    cluster = lagging(before, {own: lag})
    found = {
        f.before: f for f in compare(before, after, cluster=cluster).findings if f.rule == "KST041"
    }
    assert found[own].outcome is outcome


@pytest.mark.parametrize(("lag", "outcome"), [(None, U), (0, R), (3, W)])
def test_lag_on_a_repartition_topic_goes_to_the_operators_of_the_other(lag, outcome):
    before, after = sides("streams_more/groupings_exchange_names")
    names = {r.name: r.topic for r in before.streams.repartitions}
    cluster = None if lag is None else lagging(before, {names["g-repartition"]: lag})
    found = {
        f.before: f for f in compare(before, after, cluster=cluster).findings if f.rule == "KST022"
    }
    assert found.keys() == names.keys()
    assert found["g-repartition"].outcome is outcome
    assert found["h-repartition"].outcome is (U if lag is None else R)
    assert all((f.question is None) is (lag is not None) for f in found.values())


def test_a_store_without_a_changelog_behind_a_count_that_the_code_may_set_is_asked_about():
    before, after = sides("streams_pulls_fourth/archive_wider_requests")
    (bare,) = (s for s in before.streams.stores if s.name.endswith("0000000014"))
    left = tuple(t for t in before.streams.internal if t.name != bare.changelog)
    unlogged = replace(before, streams=replace(before.streams, internal=left))
    assert "KST033" not in {f.rule for f in compare(before, after).findings}
    (finding,) = (f for f in compare(unlogged, after).findings if f.rule == "KST033")
    assert (finding.outcome, finding.before, finding.after) == (U, 2, 4)
    assert "partition count of shelf-repartition" in finding.question
