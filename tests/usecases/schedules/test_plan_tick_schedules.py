"""A tick's plan is held to what was approved: steps, preconditions, target, records and time."""

from contextlib import closing
from dataclasses import replace
from unittest.mock import MagicMock

import pytest

from headgate.errors import RefusedError
from headgate.model.schedules import Schedule, StoredSchedule
from headgate.model.version import Engine, Sink, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.estimate import ESTIMATE, Estimate
from headgate.reprocess.plan import Plan, _loaded, dump_plan
from headgate.reprocess.scenarios.incremental.scenario import approved
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.store.rows import Event, NewRequest, NewRun, Origin, RunState
from headgate.usecases.schedules import plan_tick as module
from headgate.usecases.schedules.plan_tick import plan_tick, refuse_beyond_limit
from headgate.worker import runner
from headgate.worker.runner import Runner

SINK = Sink(format="parquet", target="/out")
PLAN = Plan(
    scenario="bounded",
    pipeline="billing",
    steps=(RecordOffsets(group="app"),),
    preconditions={"topics": {"orders": {"partitions": 2}}, "commands": {"start": "run"}},
    impact={"to_read": {"orders": 70, "clicks": 30}},
    resources=("group:app",),
)


class Now:
    """What is planned and estimated now, and where the pipeline writes."""

    def __init__(self, monkeypatch, store):
        self.store = store
        self.plan, self.sink, self.expected, self.asked = PLAN, SINK, 30.0, []
        monkeypatch.setattr(module, "plan_scenario", self.plan_scenario)
        monkeypatch.setattr(module, "estimated", self.estimated)
        self.read_sink = module._sink
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
        return plan_tick(None, self.store, known)


@pytest.fixture
def now(monkeypatch, tmp_path):
    with closing(open_store(f"sqlite:///{tmp_path / 'headgate.db'}")) as store:
        yield Now(monkeypatch, store)


def stopped_part_way(now, scenario="from-scratch", *, by="ann", resource="group:app"):
    """Add a run that failed in its first step, and return its id."""
    new = NewRun(scenario=scenario, pipeline="billing", plan_hash="h", plan="{}",
                 resources=(resource,))  # fmt: skip
    run = now.store.runs.enqueue(new, by=by, action="apply")
    now.store.runs.claim("slot-0")
    now.store.journal.add(run, 0, Event.BEGUN, {"was": {}})
    now.store.journal.add(run, 0, Event.FAILED, {"error": "no disk space"})
    now.store.runs.finish(run, RunState.FAILED, error="no disk space")
    return run


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
    assert "different steps" in why


def test_another_target_is_named(now):
    now.sink = Sink(format="parquet", target="/elsewhere")
    assert now.tick().exceeds == ("the sink changed: parquet /out -> parquet /elsewhere",)
    now.sink = None
    assert now.tick().exceeds == ("the sink changed: parquet /out -> unknown",)
    # One that nobody knew was not approved, and can't have changed.
    assert now.tick(sink=None).exceeds == ()


def test_what_a_checkpoint_cannot_show_of_the_target_is_that_of_the_capture(now):
    """The worker observes a checkpoint after its first batch: that has a sink, but no format."""
    captured = Version(engine=Engine.SPARK, sink=SINK)
    seen = Version(engine=Engine.SPARK, sink=Sink(format=None))
    for version, origin in ((captured, Origin.CAPTURED), (seen, Origin.OBSERVED)):
        now.store.versions.add("billing", version, fingerprint(version), origin=origin)
    now.sink = now.read_sink(None, now.store, "billing")
    assert now.sink == SINK
    assert now.tick().exceeds == ()


def test_too_many_records_and_unknown_ones(now):
    assert "up to 100 records are unread, and the limit is 99" in now.tick(limit_records=99).exceeds
    now.plan = replace(PLAN, impact={})
    found = now.tick(limit_records=99)
    assert found.records is None
    assert found.exceeds == (
        "the limit is 99 records, but the number of unread records is unknown",
    )
    assert now.tick().exceeds == ()


@pytest.fixture
def queued(now):
    """A tick's run that was queued with 100 unread records, its limit."""
    schedule = Schedule(pipeline="billing", every=60, limit_records=100)
    now.store.schedules.put(schedule, "r0")
    known = now.store.schedules.get("billing")
    now.store.schedules.count(known, ["2099-01-01T00:00:00.000+00:00"])
    (tick,) = now.store.schedules.waiting("billing")
    new = NewRun(scenario="bounded", pipeline="billing", plan_hash=PLAN.hash, plan=dump_plan(PLAN),
                 resources=PLAN.resources)  # fmt: skip
    return now.store.schedules.queue(known, tick, new, records=100)


@pytest.mark.parametrize("unread", [100, 101])
def test_a_run_that_waited_is_held_to_the_limit_when_it_starts(now, queued, monkeypatch, unread):
    plan = replace(PLAN, impact={"to_read": {"orders": unread}})
    monkeypatch.setattr(runner, "approved_now", lambda *_, **__: plan)
    monkeypatch.setattr(Runner, "_effects", lambda *_: MagicMock())
    now.store.runs.claim("slot-0")
    state, error, steps = Runner(lambda: None, now.store).prepare(queued, 1)
    if unread == 100:
        assert (state, error, steps) == (None, None, 1)
    else:
        assert (state, steps) == (RunState.REFUSED, 0)
        assert error.startswith("up to 101 records are unread, and the limit is 100. If the limit")


def test_a_run_that_somebody_approved_has_no_limit(now, queued):
    run = stopped_part_way(now, "bounded", resource="group:other")
    refuse_beyond_limit(now.store, run, replace(PLAN, impact={"to_read": {"orders": 900}}))
    with pytest.raises(RefusedError, match="up to 900 records are unread"):
        refuse_beyond_limit(now.store, queued, replace(PLAN, impact={"to_read": {"orders": 900}}))


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


def test_a_persons_run_that_stopped_part_way_is_not_run_over(now):
    stopped_part_way(now, resource="group:other")
    assert now.tick().exceeds == ()
    run = stopped_part_way(now)
    assert now.tick().exceeds == (
        f"run {run} (from-scratch) on group app stopped part-way and was not undone",
    )
    now.store.journal.add(run, 0, Event.UNDONE)
    assert now.tick().exceeds == ()
    person = stopped_part_way(now, "bounded")
    (why,) = now.tick().exceeds
    assert why.startswith(f"run {person} (bounded) on group app stopped part-way")


def test_a_tick_continues_what_another_tick_left(now):
    stopped_part_way(now, "bounded", by="schedule of billing")
    assert now.tick().exceeds == ()


def test_a_requested_ticks_run_that_stopped_is_continued_too(now):
    schedule = Schedule(pipeline="billing", every=60)
    now.store.schedules.put(schedule, stopped_part_way(now, "incremental", resource="schedule:b"))
    known = now.store.schedules.get("billing")
    now.store.schedules.count(known, ["2099-01-01T00:00:00.000+00:00"])
    (tick,) = now.store.schedules.waiting("billing")
    new = NewRequest(scenario="bounded", pipeline="billing", reason="r", plan_hash="h", plan="{}")
    request = now.store.schedules.request(known, tick, new, records=1)
    asked = NewRun(scenario="bounded", pipeline="billing", plan_hash="h", plan="{}",
                   resources=("group:app",))  # fmt: skip
    run = now.store.requests.approve(request, asked, by="bob")
    now.store.runs.claim("slot-0")
    now.store.journal.add(run, 0, Event.BEGUN, {"was": {}})
    now.store.runs.finish(run, RunState.CANCELLED)
    assert now.store.schedules.runs("billing") == {run}
    assert now.tick().exceeds == ()


@pytest.fixture
def request_of_a_tick(now):
    """An open request of a tick, with PLAN."""
    run = stopped_part_way(now, "incremental", resource="schedule:b")
    now.store.schedules.put(Schedule(pipeline="billing", every=60), run)
    known = now.store.schedules.get("billing")
    now.store.schedules.count(known, ["2099-01-01T00:00:00.000+00:00"])
    (tick,) = now.store.schedules.waiting("billing")
    new = NewRequest(scenario="bounded", pipeline="billing", reason="r", plan_hash=PLAN.hash,
                     plan=dump_plan(PLAN))  # fmt: skip
    return now.store.schedules.request(known, tick, new, records=1)


def test_an_open_request_is_stale_once_its_own_plan_differs(now, request_of_a_tick):
    assert now.store.schedules.open_request("billing") == request_of_a_tick
    assert now.tick().stale is None
    now.plan = replace(PLAN, preconditions={**PLAN.preconditions, "commands": {"start": "other"}})
    assert now.tick().stale == "commands: start was run, is now other"


def test_an_open_request_of_another_release_is_stale(now, request_of_a_tick, monkeypatch):
    _loaded.cache_clear()
    monkeypatch.setattr("headgate.reprocess.plan.SCHEMA", -1)
    assert "but this release of Headgate reads version" in now.tick().stale
