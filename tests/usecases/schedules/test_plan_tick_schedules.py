"""A tick's plan is held to what was approved: steps, preconditions, target, records and time."""

from dataclasses import replace

import pytest

from headgate.model.schedules import Schedule, StoredSchedule
from headgate.model.version import Sink
from headgate.reprocess.estimate import ESTIMATE, Estimate
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenarios.incremental.scenario import approved
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.usecases.schedules import plan_tick as module
from headgate.usecases.schedules.plan_tick import plan_tick

SINK = Sink(format="parquet", target="/out")
PLAN = Plan(
    scenario="bounded",
    pipeline="billing",
    steps=(RecordOffsets(group="app"),),
    preconditions={"topics": {"orders": {"partitions": 2}}, "commands": {"start": "run"}},
    impact={"to_read": {"orders": 70, "clicks": 30}},
)


class Now:
    """What is planned and estimated now, and where the pipeline writes."""

    def __init__(self, monkeypatch):
        self.plan, self.sink, self.expected, self.asked = PLAN, SINK, 30.0, []
        monkeypatch.setattr(module, "plan_scenario", self.plan_scenario)
        monkeypatch.setattr(module, "estimated", self.estimated)
        monkeypatch.setattr(module, "_sink", lambda *_: self.sink)

    def plan_scenario(self, _context, scenario, pipeline, options):
        assert (scenario, pipeline) == ("bounded", "billing")
        self.asked.append(options)
        return replace(self.plan, options=options)

    def estimated(self, _context, plan):
        estimate = Estimate(records=100, expected=self.expected).kept()
        return replace(plan, impact={**plan.impact, ESTIMATE: estimate})

    def tick(self, sink=SINK, **fields):
        """Plan a tick of a schedule that was approved with PLAN."""
        schedule = Schedule(pipeline="billing", every=60, approved=approved(PLAN, sink), **fields)
        at = "2026-11-21T10:00:00.000+00:00"
        known = StoredSchedule(
            schedule=schedule, run="r", created_at=at, created_by="ann", counted_to=at
        )
        return plan_tick(None, None, known)


@pytest.fixture
def now(monkeypatch):
    return Now(monkeypatch)


def test_what_was_approved_is_within_its_limits(now):
    found = now.tick(limit_records=100, time_limit=30, options={"time-limit": 30})
    assert (found.exceeds, found.records) == ((), 100)
    assert now.asked == [{"time-limit": 30}]


def test_another_precondition_is_named_with_both_values(now):
    changed = {**PLAN.preconditions, "topics": {"orders": {"partitions": 4}}}
    now.plan = replace(PLAN, preconditions=changed)
    assert now.tick().exceeds == ("topics: orders partitions was 2, is now 4",)


def test_other_steps_are_not_what_was_approved(now):
    now.plan = replace(PLAN, steps=(RecordOffsets(group="other"),))
    (why,) = now.tick().exceeds
    assert "other steps" in why


def test_another_target_is_named(now):
    now.sink = Sink(format="parquet", target="/elsewhere")
    assert now.tick().exceeds == ("the target changed: parquet /out -> parquet /elsewhere",)
    now.sink = None
    assert now.tick().exceeds == ("the target changed: parquet /out -> unknown",)
    # One that nobody knew was not approved, and can't have changed.
    assert now.tick(sink=None).exceeds == ()


def test_too_many_records_and_unknown_ones(now):
    assert "100 records are unread, and the limit is 99" in now.tick(limit_records=99).exceeds
    now.plan = replace(PLAN, impact={})
    found = now.tick(limit_records=99)
    assert found.records is None
    assert found.exceeds == (
        "the limit is 99 records, but the number of unread records is unknown",
    )
    assert now.tick().exceeds == ()


def test_a_run_that_would_take_too_long_is_requested_without_the_limit(now):
    options = {"time-limit": 20, "max-records": 5}
    found = now.tick(time_limit=20, options=options)
    assert found.exceeds == ("the run is expected to take 30 seconds, and the limit is 20 seconds",)
    assert found.plan.options == {"max-records": 5}
    assert ESTIMATE in found.plan.impact
    # Nobody knows how long it takes: it runs, and stops at the limit.
    now.expected = None
    found = now.tick(time_limit=20, options=options)
    assert (found.exceeds, found.plan.options) == ((), options)


def test_a_blocked_plan_is_only_blocked(now):
    now.plan = Plan(scenario="bounded", pipeline="billing", blockers=("no stop command",))
    found = now.tick(limit_records=1)
    assert (found.plan.blockers, found.exceeds, found.records) == (("no stop command",), (), None)
