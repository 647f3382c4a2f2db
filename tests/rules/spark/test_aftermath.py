"""What a refused attempt leaves in the checkpoint, and how it is taken out again."""

from dataclasses import replace

from headgate.model.state_schema import Field
from headgate.model.version import Progress
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Rollback
from rules.build import K, files, join, version

LONG = Field("k", "long", True)
DONE = Progress(last_offset_batch=5, last_commit_batch=5)
SWAPPED = (files(0, "/b", advanced=False), files(1, "/a", advanced=False))
STRAIGHT = (files(0, "/a", advanced=False), files(1, "/b", advanced=False))


def refusal(after, **more):
    before = replace(version(join(value=(K,)), sources=STRAIGHT), progress=DONE)
    report = compare(before, replace(after, **more))
    return next(f for f in report.findings if f.rule == "STA002")


def test_a_refusal_over_the_same_sources_leaves_the_old_version_startable():
    found = refusal(version(join(value=(LONG,)), sources=STRAIGHT))
    assert (found.outcome, found.rollback) == (Outcome.REFUSES, Rollback.SAFE)
    assert "offsets/" not in found.remedy


def test_the_offsets_of_swapped_sources_must_be_deleted_before_the_old_version_starts():
    found = refusal(version(join(value=(LONG,)), sources=SWAPPED))
    assert found.rollback is Rollback.REPAIRABLE
    assert "commits/6 is missing, delete offsets/6 and offsets/.6.crc" in found.remedy


def test_what_refuses_before_the_first_batch_writes_nothing():
    told = tuple(replace(s, advanced=True) for s in STRAIGHT)
    before = replace(version(join(value=(K,)), sources=told), progress=DONE)
    report = compare(before, version(join(value=(LONG,)), sources=SWAPPED))
    assert {"FIL001", "STA002"} <= {f.rule for f in report.findings}
    assert {f.rollback for f in report.findings if f.outcome is Outcome.REFUSES} == {Rollback.SAFE}


def test_a_new_checkpoint_gets_over_it_where_no_nearer_way_is_named():
    assert refusal(version(join(value=(LONG,)), sources=STRAIGHT)).scenario == "from-scratch"
