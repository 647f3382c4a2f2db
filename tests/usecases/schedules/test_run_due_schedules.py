"""A tick that is due becomes a run, a request or neither: missed policies, limits, other runs."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from headgate.errors import ScenarioError, UnreachableError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.schedules import Inputs, Missed, Schedule
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.store.rows import NewRun, RunState
from headgate.store.tables import SCHEDULE_TICKS, SCHEDULES
from headgate.usecases.context import Context
from headgate.usecases.schedules import due_by_data, run_due
from headgate.usecases.schedules.list_schedules import list_schedules
from headgate.usecases.schedules.plan_tick import TickPlan
from headgate.usecases.schedules.run_due import Scheduler
from headgate.usecases.schedules.watch_inputs import Unread

pytestmark = pytest.mark.slow

PLAN = Plan(
    scenario="bounded",
    pipeline="billing",
    steps=(RecordOffsets(group="app"),),
    resources=("group:app",),
)


def iso(at):
    return at.isoformat(timespec="milliseconds")


class Lab:
    """A store with one schedule; what Kafka would say of its plan is `found`."""

    def __init__(self, folder: Path):
        folder.mkdir(exist_ok=True)
        self.store = open_store(f"sqlite:///{folder / 'headgate.db'}")
        pipeline = Pipeline(name="billing", engine=Engine.CONSUMER_GROUP, group="app")
        self.context = Context(
            Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,)),
            f"sqlite:///{folder / 'headgate.db'}",
            folder,
        )
        self.found = TickPlan(PLAN, 5)
        self.asked = 0
        self.scheduler = Scheduler()

    def plan(self, *_):
        self.asked += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def schedule(self, *, ago: float = 0.0, **fields):
        """Write a schedule that began so many seconds ago."""
        run = self.enqueue("schedule:billing")
        self.end(run)
        self.store.schedules.put(
            Schedule(pipeline="billing", approved={"target": None}, **fields), run
        )
        self.shift(ago)

    def shift(self, seconds):
        """Let the schedule and its ticks be so many seconds older."""
        known = self.store.schedules.get("billing")
        back = timedelta(seconds=seconds)
        moved = {
            name: iso(datetime.fromisoformat(getattr(known, name)) - back)
            for name in ("created_at", "counted_to")
        }
        text = msgspec.json.encode(replace(known, **moved)).decode()
        with self.store.database.writing() as connection:
            connection.execute(sa.update(SCHEDULES).values(document=text))
            due = SCHEDULE_TICKS.c.due_at
            for at in connection.execute(sa.select(due).order_by(due)).scalars().all():
                earlier = iso(datetime.fromisoformat(at) - back)
                connection.execute(
                    sa.update(SCHEDULE_TICKS).where(due == at).values(due_at=earlier)
                )

    def enqueue(self, *resources, pipeline="billing"):
        new = NewRun(scenario="pause", pipeline=pipeline, plan_hash="h", plan="{}",
                     resources=resources)  # fmt: skip
        return self.store.runs.enqueue(new, by="ann", action="apply")

    def end(self, run, state=RunState.DONE):
        self.store.runs.claim("slot-0")
        self.store.runs.finish(run, state)

    def look(self):
        return list(self.scheduler.look(self.context, self.store))

    @property
    def ticks(self):
        """The ticks, oldest first, as their outcomes are shown."""
        (view,) = list_schedules(self.context, limit=2000)
        return list(reversed(view.ticks))

    def outcomes(self):
        return [t.outcome for t in self.ticks]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    made = Lab(tmp_path)
    monkeypatch.setattr(run_due, "plan_tick", made.plan)
    with closing(made.store):
        yield made


def test_nothing_is_due_before_its_time(lab):
    lab.schedule(every=3600)
    assert lab.look() == []
    assert lab.ticks == []


def test_a_due_tick_queues_one_run_that_names_the_schedule(lab):
    lab.schedule(every=3600, ago=3601)
    (said,) = lab.look()
    assert "is queued as run" in said and "unread records: up to 5)" in said
    assert lab.look() == []
    (tick,) = lab.ticks
    assert (tick.outcome, tick.tick.records, tick.tick.missed) == ("queued", 5, 0)
    assert lab.store.runs.get(tick.run).created_by == "schedule of billing"


def test_ticks_that_were_missed_run_once(lab):
    lab.schedule(every=10, ago=105)
    lab.look()
    (tick,) = lab.ticks
    assert (tick.outcome, tick.tick.missed) == ("queued", 9)


def test_all_missed_ticks_run_one_after_the_other(lab):
    lab.schedule(every=10, ago=35, missed=Missed.ALL)
    lab.look()
    assert lab.outcomes() == ["queued", "waiting", "waiting"]
    for expected in (["done", "queued", "waiting"], ["done", "done", "queued"]):
        lab.end(next(t.run for t in lab.ticks if t.outcome == "queued"))
        lab.look()
        assert lab.outcomes()[:3] == expected


def test_a_long_outage_makes_no_thousand_runs(lab):
    lab.schedule(every=1, ago=700, missed=Missed.ALL)
    lab.look()
    assert len(lab.ticks) == run_due.MOST_RUNS
    assert sum(t.tick.missed + 1 for t in lab.ticks) >= 699


def test_missed_ticks_are_skipped_and_one_in_time_runs(lab):
    lab.schedule(every=100, ago=190, missed=Missed.SKIP)
    lab.look()
    (late,) = lab.ticks
    assert (late.outcome, late.tick.reason) == (
        "skipped",
        "no worker was running at the scheduled time",
    )
    lab.shift(50)
    lab.look()
    assert lab.outcomes() == ["skipped", "queued"]


@pytest.mark.parametrize(
    ("missed", "outcome"), [(Missed.ONCE, "waiting"), (Missed.SKIP, "skipped")]
)
def test_runs_of_a_pipeline_never_overlap(lab, missed, outcome):
    lab.schedule(every=10, ago=11, missed=missed)
    run = lab.enqueue("something:else")
    lab.look()
    (tick,) = lab.ticks
    assert (tick.outcome, tick.tick.reason) == (outcome, f"run {run} of billing is in progress")
    assert lab.asked == 0
    lab.end(run)
    lab.look()
    assert lab.outcomes() == (["queued"] if missed is Missed.ONCE else ["skipped"])


@pytest.mark.parametrize("missed", Missed)
def test_a_tick_during_another_pipelines_chain_is_not_lost(lab, monkeypatch, missed):
    lab.schedule(every=3600, ago=3601, missed=missed)
    run = lab.enqueue("group:other", "group:app", pipeline="orders")
    blocker = f"run {run} is queued and uses group app"
    lab.found = TickPlan(replace(PLAN, blockers=(blocker,)), 5)
    lab.look()
    lab.look()
    (tick,) = lab.ticks
    assert lab.asked == 1, "it is not planned at each look"
    if missed is Missed.SKIP:
        expected = ("skipped", f"the plan is blocked: {blocker}")
    else:
        expected = ("waiting", f"run {run} on group app is in progress")
    assert (tick.outcome, tick.tick.reason) == expected
    monkeypatch.setattr(run_due, "RETRY", timedelta(0))
    lab.end(run)
    lab.found = TickPlan(PLAN, 5)
    lab.look()
    assert lab.outcomes() == ["skipped" if missed is Missed.SKIP else "queued"]


def test_beyond_a_limit_it_is_a_request_and_later_ticks_wait_for_nothing(lab):
    lab.schedule(every=10, ago=11)
    lab.found = TickPlan(PLAN, 900, ("900 records are unread, and the limit is 100",))
    (said,) = lab.look()
    assert "waits for approval of request" in said
    (tick,) = lab.ticks
    assert (tick.outcome, tick.tick.records) == ("open", 900)
    (request,) = lab.store.requests.list()
    assert request.asked_by == "ann"
    assert "the schedule (every 10 seconds): 900 records are unread" in request.reason
    lab.shift(10)
    lab.look()
    assert lab.outcomes() == ["open", "skipped"]
    assert f"request {request.id} of an earlier tick is still open" in lab.ticks[1].tick.reason
    lab.store.requests.decline(request.id, by="bob", reason="no")
    lab.shift(10)
    lab.look()
    assert lab.outcomes() == ["declined", "skipped", "open"]


def test_a_stale_request_of_a_tick_is_replaced_by_the_next_one(lab):
    lab.schedule(every=10, ago=11)
    lab.found = TickPlan(PLAN, 900, ("900 records are unread, and the limit is 100",))
    lab.look()
    (first,) = lab.store.requests.list()
    stale = "topics: orders partitions was 2, is now 3"
    lab.found = replace(lab.found, stale=stale)
    lab.shift(10)
    said = lab.look()
    assert f"replaces request {first.id}, because {stale}" in said[0]
    assert lab.outcomes() == ["cancelled", "open"]
    (_, cancelled) = lab.store.audit.list(request=first.id)
    assert (cancelled.action, cancelled.by) == ("cancel", "schedule of billing")
    assert cancelled.details["reason"] == f"the plan is stale: {stale}"
    # The limit holds again: the tick's own run replaces the request.
    lab.found = TickPlan(PLAN, 50, stale=stale)
    lab.shift(10)
    lab.look()
    assert lab.outcomes() == ["cancelled", "cancelled", "queued"]


def test_a_stale_request_stays_while_nothing_can_replace_it(lab):
    lab.schedule(every=10, ago=11)
    lab.found = TickPlan(PLAN, 900, ("900 records are unread, and the limit is 100",))
    lab.look()
    lab.found = TickPlan(replace(PLAN, blockers=("no stop",)), 900, stale="commands changed")
    lab.shift(10)
    lab.look()
    assert lab.outcomes() == ["open", "skipped"]


def test_a_removed_schedule_leaves_no_open_request(lab):
    lab.schedule(every=10, ago=11)
    lab.found = TickPlan(PLAN, 900, ("900 records are unread, and the limit is 100",))
    lab.look()
    lab.store.schedules.restore("billing", None)
    (request,) = lab.store.requests.list()
    assert (request.state, request.decision) == ("cancelled", "an undo removed the schedule")


def test_without_unread_records_nothing_runs(lab):
    lab.schedule(every=10, ago=11)
    # Not even a request, whatever else has changed.
    lab.found = TickPlan(PLAN, 0, ("the target was a, is now b",))
    lab.look()
    assert [(t.outcome, t.tick.reason) for t in lab.ticks] == [
        ("skipped", "there are no unread records")
    ]


def test_a_blocked_plan_and_one_that_fails_are_skipped_with_the_reason(lab):
    lab.schedule(every=10, ago=11)
    lab.found = TickPlan(Plan(scenario="bounded", pipeline="billing", blockers=("no stop",)), None)
    lab.look()
    lab.found = ScenarioError("no such option")
    lab.shift(10)
    lab.look()
    reasons = [t.tick.reason for t in lab.ticks]
    assert reasons == ["the plan is blocked: no stop", "no such option"]
    assert lab.outcomes() == ["skipped", "skipped"]


def test_where_nothing_answers_the_tick_waits_and_is_tried_again(lab, monkeypatch):
    lab.schedule(every=3600, ago=3601)
    lab.found = UnreachableError("Kafka did not respond")
    lab.look()
    lab.look()
    assert lab.asked == 1, "it is not asked at each look"
    (tick,) = lab.ticks
    assert (tick.outcome, tick.tick.reason) == ("waiting", "Kafka did not respond")
    monkeypatch.setattr(run_due, "RETRY", timedelta(0))
    lab.found = TickPlan(PLAN, 5)
    lab.look()
    assert lab.outcomes() == ["queued"]


def test_a_paused_schedule_and_an_unregistered_pipeline_run_nothing(lab):
    lab.schedule(every=10, ago=11)
    lab.store.schedules.pause("billing", by="ann")
    assert lab.look() == [] and lab.ticks == []
    lab.store.schedules.resume("billing", by="ann")
    lab.shift(11)
    lab.context = Context(Registry(), lab.context.store_url, lab.context.home)
    lab.look()
    assert "no longer registered" in lab.ticks[0].tick.reason


class Inbox:
    """What the inputs look like: `ends` and how many records are unread."""

    def __init__(self, lab, monkeypatch):
        self.end, self.unread, self.lab = 10, 10, lab
        self.at = datetime.now(UTC)
        monkeypatch.setattr(
            due_by_data, "read_unread", lambda *_: Unread({"t:0": self.end}, self.unread)
        )

    def look(self, after=0.0):
        """Look at them so many seconds later; return the outcomes of all ticks."""
        self.at += timedelta(seconds=after)
        known = self.lab.store.schedules.get("billing")
        due_by_data.count_by_data(self.lab.context, self.lab.store, known, iso(self.at))
        list(self.lab.scheduler._decide(self.lab.context, self.lab.store, known))
        return self.lab.outcomes()

    def read(self):
        """The run of the newest tick has read all."""
        self.lab.end(self.lab.ticks[-1].run)
        self.unread = 0


def test_a_lag_beyond_the_limit_is_a_tick(lab, monkeypatch):
    lab.schedule(lag=10)
    inbox = Inbox(lab, monkeypatch)
    assert inbox.look() == []
    inbox.end = inbox.unread = 11
    assert inbox.look(1) == ["queued"]
    # It is in progress, and records keep arriving.
    inbox.end, inbox.unread = 30, 30
    assert inbox.look(1) == ["queued"]
    inbox.read()
    inbox.unread = 12
    assert inbox.look(1) == ["done", "queued"]


def test_what_a_done_run_leaves_unread_is_no_tick_until_records_arrive(lab, monkeypatch):
    lab.schedule(lag=0)
    inbox = Inbox(lab, monkeypatch)
    assert inbox.look() == ["queued"]
    inbox.read()
    # A transaction marker: the offset is no record's.
    inbox.unread = 1
    assert inbox.look(5) == ["done"] == inbox.look(9999)
    inbox.end, inbox.unread = 12, 2
    assert inbox.look(1) == ["done", "queued"]


def test_a_run_that_failed_is_not_repeated_at_once(lab, monkeypatch):
    lab.schedule(lag=0)
    inbox = Inbox(lab, monkeypatch)
    assert inbox.look() == ["queued"]
    lab.end(lab.ticks[0].run, RunState.FAILED)
    inbox.end += 1
    assert inbox.look(5) == ["failed"]
    assert inbox.look(due_by_data.AGAIN.total_seconds() + 5) == ["failed", "queued"]


def test_a_stale_request_of_a_tick_by_data_is_replaced_later(lab, monkeypatch):
    lab.schedule(lag=10)
    inbox = Inbox(lab, monkeypatch)
    lab.found = TickPlan(PLAN, 900, ("900 records are unread, and the limit is 100",))
    inbox.end = inbox.unread = 900
    assert inbox.look() == ["open"]
    lab.found = replace(lab.found, stale="commands changed")
    assert inbox.look(60) == ["open"]
    assert inbox.look(due_by_data.AGAIN.total_seconds()) == ["cancelled", "open"]


def test_quiet_counts_from_the_last_record_that_arrived(lab, monkeypatch):
    lab.schedule(quiet=60)
    inbox = Inbox(lab, monkeypatch)
    assert inbox.look() == []
    inbox.end = 11
    assert inbox.look(59) == []
    assert inbox.look(59) == []
    # Whoever looks now: what was seen is in the store.
    lab.scheduler = Scheduler()
    assert inbox.look(1) == ["queued"]
    assert lab.store.schedules.get("billing").inputs.ticked
    inbox.read()
    assert inbox.look(600) == ["done"]
    inbox.end, inbox.unread = 12, 1
    assert inbox.look(1) == ["done"]
    assert inbox.look(60) == ["done", "queued"]


def test_inputs_that_were_seen_are_kept(lab, monkeypatch):
    lab.schedule(quiet=60)
    inbox = Inbox(lab, monkeypatch)
    inbox.look()
    kept = lab.store.schedules.get("billing").inputs
    assert kept == Inputs(ends={"t:0": 10}, since=iso(inbox.at))


class Kill(BaseException):
    """The worker is gone: no handler of ours may see it."""


def kill_at(lab, monkeypatch, number):
    """Kill the worker before or after one of its transactions, the `number`-th such point."""
    left = [number]

    def pass_a_point():
        left[0] -= 1
        if left[0] == -1:
            raise Kill

    def wrap(call):
        def counted(*args, **kwargs):
            pass_a_point()
            result = call(*args, **kwargs)
            pass_a_point()
            return result

        return counted

    for name in ("count", "wait", "skip", "queue", "request", "watch"):
        monkeypatch.setattr(lab.store.schedules, name, wrap(getattr(lab.store.schedules, name)))


def runs_to_the_end(lab):
    """Let a worker decide all that waits, and end each run."""
    for _ in range(20):
        lab.look()
        active = [t.run for t in lab.ticks if t.outcome == "queued"]
        for run in active:
            lab.end(run)
        if not active and "waiting" not in lab.outcomes():
            return
    raise AssertionError(lab.ticks)


@pytest.mark.parametrize(
    "missed",
    [
        Missed.ONCE,
        *(pytest.param(m, marks=pytest.mark.long) for m in Missed if m is not Missed.ONCE),
    ],
)
def test_whenever_a_worker_is_killed_no_tick_is_lost_or_runs_twice(tmp_path, monkeypatch, missed):
    kills = 0
    for number in range(10):
        lab = Lab(tmp_path / str(number))
        monkeypatch.setattr(run_due, "plan_tick", lab.plan)
        lab.schedule(every=10, ago=35, missed=missed)
        with monkeypatch.context() as faults, closing(lab.store):
            kill_at(lab, faults, number)
            try:
                runs_to_the_end(lab)
            except Kill:
                kills += 1
        # The next worker.
        lab.store, lab.scheduler = open_store(lab.context.store_url), Scheduler()
        with closing(lab.store):
            runs_to_the_end(lab)
            assert sum(t.tick.missed + 1 for t in lab.ticks) == 3
            made = [t.run for t in lab.ticks]
            assert lab.outcomes() == ["done"] * len(made)
            assert len(made) == len(set(made)) == (3 if missed is Missed.ALL else 1)
            # One more wrote the schedule.
            assert len(lab.store.runs.list()) == len(made) + 1
    assert kills >= 4
