"""A batch's plan scans streams and static tables alike: what it does not tell is not guessed."""

from __future__ import annotations

import pytest

from headgate.usecases.evidence.read_version import read_version
from support.spark_golden import ROOT

SAID = "the query plan has 2 scans, but doesn't show which ones are streams"
RUN = ROOT / "4.2.0" / "static_join_broadcast" / "run"


@pytest.mark.parametrize("form", ["formatted.txt", "physical.json"])
def test_a_physical_plan_alone_leaves_the_sources_open(form):
    version = read_version([str(RUN / form)])
    assert version.sources is None
    assert [w for w in version.warnings if SAID in w]


def test_what_else_there_is_settles_them():
    version = read_version([str(RUN)])
    assert [s.format for s in version.sources] == ["json"]
    assert not [w for w in version.warnings if SAID in w]


def test_two_streams_that_are_joined_need_nothing_else():
    run = ROOT / "4.2.0" / "stream_join_left" / "run"
    assert len(read_version([str(run / "formatted.txt")]).sources) == 2
