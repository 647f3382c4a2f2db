"""What was approved binds the run however late it begins: its impact may not have grown by more."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from headgate.errors import StalePlanError
from headgate.model.cluster import Partition, Topic
from headgate.reprocess.plan import UNDO, Plan, dump_plan, load_plan
from headgate.reprocess.scenarios.build import APPROVED, approved_counts, drift
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.store import open_store
from headgate.usecases.reprocess import rebuild_plan
from headgate.usecases.reprocess.rebuild_plan import approved_now
from support.flat_ports import FlatPorts

TOLERATED = 100_000


def plan(again, skipped=0):
    impact = {"records": {"orders": again}, "total": again, "skipped": {"orders": skipped}}
    steps = (RecordOffsets(group="g"),)
    return Plan(scenario="from-point", pipeline="q", steps=steps, impact=impact)


@pytest.fixture
def rebuilt(monkeypatch, tmp_path):
    """Builds a plan anew for its run, in a world where it would be `now`."""
    with closing(open_store(f"sqlite:///{tmp_path / 'db'}")) as store:

        def build(approved, now, inspector=None):
            monkeypatch.setattr(rebuild_plan, "fresh_plan", lambda *_a, **_k: now)
            return approved_now(store, inspector, approved)

        yield build


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (plan(TOLERATED), ""),
        (
            plan(TOLERATED + 11),
            f"up to {TOLERATED + 11} records would now be reprocessed, but only 10 were approved",
        ),
        (plan(10, skipped=TOLERATED), ""),
        (
            plan(10, TOLERATED + 1),
            f"up to {TOLERATED + 1} records would now be skipped, but only 0 were approved",
        ),
    ],
)
def test_both_what_is_read_again_and_what_is_skipped_count(now, words):
    assert "; ".join(drift(plan(10), now)) == words


def test_it_may_not_grow_by_steps(rebuilt):
    """Each build lies within the tolerance of the one before, the last not of what was approved."""
    asked = plan(300_000)
    decided = rebuilt(asked, plan(590_000))
    assert decided.impact["total"] == 590_000
    assert decided.impact[APPROVED] == {"reprocessed": 300_000, "skipped": 0}
    stored = load_plan(dump_plan(decided), source="run")
    assert stored.hash == asked.hash
    assert approved_counts(stored)["reprocessed"] == 300_000
    rebuilt(stored, plan(600_000))
    with pytest.raises(
        StalePlanError, match="up to 600001 records would now be reprocessed, but only 300000 were"
    ):
        rebuilt(stored, plan(600_001))


def starts_at(offset, **more):
    step = ResetOffsets(
        group="g",
        group_type="consumer",
        target=Target(place=TargetKind.BEGINNING),
        topics={"orders": {"id": "o", "partitions": 1}},
        offsets=({"topic": "orders", "partition": 0, "from": 90, "to": offset},),
    )
    return Plan(scenario="from-point", pipeline="q", steps=(step,), **more)


class Retained(FlatPorts):
    def topics(self, names):
        part = Partition(number=0, begin=self.begin, end=100)
        return {"orders": Topic(name="orders", id="o", partitions=(part,))}


def test_a_plan_is_stale_if_the_records_that_it_starts_with_were_deleted(rebuilt):
    kafka = Retained()
    kafka.begin = 60
    with pytest.raises(StalePlanError, match="Kafka deleted up to 60 records of orders"):
        rebuilt(starts_at(0), starts_at(60), kafka)
    kafka.begin = 5
    now = rebuilt(starts_at(0), starts_at(5), kafka)
    assert now.impact["deleted_since_approval"] == {"orders": 5}
    assert "Kafka deleted up to 5 records of orders" in now.risks[0]


def test_a_deletion_is_named_before_what_else_blocks_the_plan(rebuilt):
    kafka = Retained()
    kafka.begin = 60
    with pytest.raises(StalePlanError, match="Kafka deleted"):
        rebuilt(starts_at(0), starts_at(60, blockers=("choose a later time",)), kafka)


def test_an_undo_has_nothing_of_the_kind(rebuilt):
    undo = replace(plan(0), scenario=UNDO, impact={}, options={"run": "r"})
    assert approved_counts(undo) == {} and drift(undo, undo) == ()
