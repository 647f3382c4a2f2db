"""Proof of stopped before each destructive step, suspended restarts, and manual steps."""

import os
import shutil
import time
from dataclasses import replace

import pytest

from headgate.errors import RefusedError, StalePlanError
from headgate.gateway.adapters.driver_status import judge_life
from headgate.model.commands import Ask
from headgate.parse.spark.watch.read import Life
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.base import verify_stopped
from headgate.reprocess.steps.base.verify_stopped import check_stopped, quiet_needed
from headgate.reprocess.steps.checkpoint.cut_batch import SwapCutCheckpoint
from headgate.reprocess.steps.process.wait_until_stopped import wait_until_stopped
from headgate.store.rows import Event
from headgate.worker.run_journal import RunJournal
from support.crashing import COMMANDS, Crash

SUSPENDED = replace(
    COMMANDS,
    suspend="touch suspended; echo suspend >> order",
    reenable="rm -f suspended; echo reenable >> order",
    stop=COMMANDS.stop + "; echo stop >> order",
    start=COMMANDS.start + "; echo start >> order",
)


def age(folder, seconds):
    """Let the logs of the lab's checkpoint be so old."""
    at = time.time() - seconds
    for path in (folder / "ck").glob("*/*"):
        os.utime(path, (at, at))


def test_the_status_command_decides(lab):
    made = lab()
    applier = made.applier()
    with pytest.raises(RefusedError, match=r"its status is running\. Stop the pipeline"):
        check_stopped(applier, "q")
    (made.folder / "running").unlink()
    check_stopped(applier, "q", checkpoint=str(made.folder / "ck"))
    with pytest.raises(StalePlanError, match="other is no longer registered"):
        check_stopped(applier, "other")


def test_a_driver_that_lives_speaks_against_a_status_that_says_stopped(lab, monkeypatch):
    made = lab()
    (made.folder / "running").unlink()
    applier = made.applier()
    monkeypatch.setattr(
        applier.processes,
        "driver_status",
        lambda _p: DriverStatus(Status.RUNS, "its watch told of it"),
    )
    with pytest.raises(RefusedError, match="its watch told of it"):
        check_stopped(applier, "q")


def test_without_a_status_logs_that_moved_just_now_refuse(lab, monkeypatch):
    monkeypatch.setattr(verify_stopped, "QUIET_MIN", 3.0)
    monkeypatch.setattr(verify_stopped, "QUIET_MAX", 180.0)
    made = lab(replace(COMMANDS, status=None))
    applier, location = made.applier(), str(made.folder / "ck")
    monkeypatch.setattr(applier.processes, "status", lambda _p: Status.UNKNOWN)
    age(made.folder, 10)
    check_stopped(applier, "q", checkpoint=location)
    (made.folder / "ck" / "offsets" / "5").write_text("v1")
    with pytest.raises(RefusedError, match="changed 0 s ago, so the query may still run"):
        check_stopped(applier, "q", checkpoint=location)
    monkeypatch.setattr(
        applier.processes,
        "driver_status",
        lambda _p: DriverStatus(Status.STOPPED, "its end was told"),
    )
    check_stopped(applier, "q", checkpoint=location)


def test_a_query_of_long_batches_is_never_proven_by_silence(lab, monkeypatch):
    monkeypatch.setattr(verify_stopped, "QUIET_MAX", 180.0)
    made = lab(replace(COMMANDS, status=None))
    applier, location = made.applier(), str(made.folder / "ck")
    at = time.time() - 900
    os.utime(made.folder / "ck" / "offsets" / "4", (at - 300, at - 300))
    os.utime(made.folder / "ck" / "commits" / "4", (at, at))
    found = applier.checkpoints.read(location)
    assert round(found.busy_seconds) == 300
    assert round(quiet_needed(found)) == 900
    with pytest.raises(RefusedError, match="would have to watch the checkpoint for 900 s"):
        wait_until_stopped(applier, "q", checkpoint=location)


def test_silence_counts_over_the_longest_of_interval_and_batch():
    found = Checkpoint(location="/ck", query_id="q", batch_seconds=4, busy_seconds=2)
    assert quiet_needed(found) == 12
    assert quiet_needed(replace(found, busy_seconds=9)) == 27


def test_each_destructive_step_refuses_what_came_back(lab):
    """Somebody starts it after each step in turn: the next step that would harm refuses."""
    refused = []
    for came_back in range(2):
        made = lab()
        plan = build_plan("from-scratch", "q", made.applier())
        run = made.enqueue(plan)
        executor = Executor(made.applier(run), RunJournal(made.store, run, plan, undo_of=None))
        for position, step in enumerate(plan.steps):
            try:
                executor.apply(position, step)
            except RefusedError as error:
                assert "its status is running" in str(error)
                refused.append((came_back, step.action))
                break
            if position == came_back:
                (made.folder / "running").touch()
    assert refused == [(0, "snapshot_checkpoint"), (1, "replace_checkpoint")]


def test_restarts_are_suspended_before_the_stop_and_reenabled_before_the_start(lab):
    made = lab(SUSPENDED)
    plan = build_plan("from-scratch", "q", made.applier())
    made.execute(made.enqueue(plan), plan)
    assert (made.folder / "order").read_text().split() == ["suspend", "stop", "reenable", "start"]


@pytest.mark.parametrize("runs", [True, False])
def test_a_rollback_reenables_restarts(lab, runs):
    made = lab(SUSPENDED)
    if not runs:
        (made.folder / "running").unlink()
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    executor = Executor(made.applier(run), RunJournal(made.store, run, plan, undo_of=None))
    executor.apply(0, plan.steps[0])
    assert (made.folder / "suspended").exists()
    executor.roll_back(plan.steps)
    assert not (made.folder / "suspended").exists()
    assert (made.folder / "running").exists() is runs


@pytest.mark.slow
def test_no_crash_leaves_restarts_suspended_for_good(lab):
    at = 0
    while True:
        made = lab(SUSPENDED)
        plan = build_plan("from-scratch", "q", made.applier())
        run = made.enqueue(plan)
        crashed = made.crash(run, plan, at)
        back = made.undo(run, plan)
        if back.steps:
            made.execute(made.enqueue(back, undo_of=run), back, run)
        assert not (made.folder / "suspended").exists(), at
        assert not (made.folder / "twice").exists(), at
        if not crashed:
            break
        at += 1
    assert at >= 10


ASKED = replace(
    COMMANDS,
    stop="manual step: Stop it",
    calls={"stop": Ask(text="Stop it")},
)


def person(made, run, *, by=None):
    """Effects whose person confirms, as `by`, at the third look, having done it."""
    applier = made.applier(run)
    looks = iter(range(10_000))

    def ask(word, request):
        found = made.store.questions.ask(run, 0, 1, word, request)
        if by and next(looks) == 2:
            (made.folder / "running").unlink(missing_ok=True)
            made.store.questions.confirm(run, by=by, pipeline="q")
        return found.by

    applier.context.ask = ask
    return applier


def test_a_person_is_waited_for_and_their_work_is_proven(lab):
    made = lab(ASKED)
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    Executor(person(made, run, by="ann"), RunJournal(made.store, run, plan, undo_of=None)).apply(
        0, plan.steps[0]
    )
    assert f"headgate confirm {run}" in " ".join(made.notes)
    assert "ann confirmed: Stop it" in made.notes
    events = [e.event for e in made.store.journal.entries(run)]
    assert events == [Event.BEGUN, Event.ASKED, Event.CONFIRMED, Event.DONE]
    (row,) = [r for r in made.store.audit.list(run) if r.action == "confirm"]
    assert (row.by, row.pipeline, row.details) == ("ann", "q", {"request": "Stop it", "step": 0})


def test_a_confirmation_that_is_not_true_is_refused(lab):
    made = lab(ASKED)
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    applier = person(made, run)
    made.store.questions.ask(run, 0, 1, "stop", "Stop it")
    made.store.questions.confirm(run, by="bob", pipeline="q")
    executor = Executor(applier, RunJournal(made.store, run, plan, undo_of=None))
    with pytest.raises(RefusedError, match="q is not stopped"):
        executor.apply(0, plan.steps[0])


def test_a_refused_stop_leaves_no_restarts_suspended(lab):
    made = lab(replace(ASKED, suspend="touch suspended", reenable="rm -f suspended"))
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    applier = person(made, run)
    made.store.questions.ask(run, 0, 1, "stop", "Stop it")
    made.store.questions.confirm(run, by="bob", pipeline="q")
    executor = Executor(applier, RunJournal(made.store, run, plan, undo_of=None))
    with pytest.raises(RefusedError, match="q is not stopped"):
        executor.apply(0, plan.steps[0])
    assert (made.folder / "suspended").exists()
    executor.roll_back(plan.steps)
    assert not (made.folder / "suspended").exists()
    assert not (made.folder / "twice").exists()


def test_nobody_for_a_day_refuses_and_changes_nothing(lab):
    made = lab(ASKED)
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    applier = person(made, run)
    looked = [0.0]
    applier.context.pause = lambda seconds: looked.__setitem__(0, looked[0] + seconds)
    applier.context.ask = lambda _word, _request: None
    with pytest.raises(
        RefusedError, match="nobody confirmed the manual step within a day: Stop it"
    ):
        applier.processes.command("q", "stop")
    assert looked[0] == 24 * 3600
    assert (made.folder / "running").exists()


def test_a_question_outlives_a_crash_and_holds_for_one_attempt(lab):
    made = lab(ASKED)
    plan = build_plan("from-scratch", "q", made.applier())
    run = made.enqueue(plan)
    applier = person(made, run)

    def crash(_seconds):
        raise Crash

    applier.context.pause = crash
    executor = Executor(applier, RunJournal(made.store, run, plan, undo_of=None))
    applier.context.pause = lambda seconds: crash(seconds) if seconds else None
    with pytest.raises(Crash):
        executor.apply(0, plan.steps[0])
    questions = made.store.questions
    assert questions.open(run).request == "Stop it"
    questions.confirm(run, by="ann", pipeline="q")
    assert questions.open(run) is None
    with pytest.raises(RefusedError, match="isn't waiting for a manual step"):
        questions.confirm(run, by="ann", pipeline="q")
    (made.folder / "running").unlink()
    executor = Executor(person(made, run), RunJournal(made.store, run, plan, undo_of=None))
    executor.apply(0, plan.steps[0])
    assert sum(e.event is Event.ASKED for e in made.store.journal.entries(run)) == 1
    assert questions.ask(run, 0, 2, "stop", "Stop it").by is None


LIFE = Life(query_id="a", run_id="b", told_at="2026-11-21T10:00:00+00:00")
NOW = 1795255200.0
LIVES = [
    (LIFE, 50, Status.RUNS),
    (LIFE, 150, Status.UNKNOWN),
    (replace(LIFE, ended=True), 50, Status.STOPPED),
    (replace(LIFE, closed="the watch was closed"), 50, Status.UNKNOWN),
    (replace(LIFE, closed="the driver program ended", over=True), 50, Status.STOPPED),
    (replace(LIFE, told_at=None), 0, Status.UNKNOWN),
]


@pytest.mark.parametrize(("life", "later", "status"), LIVES)
def test_what_a_watch_proves(life, later, status):
    assert judge_life(life, NOW + later).status is status


@pytest.mark.parametrize(
    ("has_status", "quiet", "watched"),
    [
        (True, 1, 11),  # Twelve seconds are three times its usual way.
        (True, 7, 5),
        (True, 600, 3),  # It may have come up a moment ago, so a look is always taken.
        (True, None, 12),
        (False, 600, 12),  # Nobody says that it is stopped: the silence before proves nothing.
    ],
)
def test_silence_up_to_now_counts_where_somebody_says_that_it_is_stopped(
    lab, monkeypatch, has_status, quiet, watched
):
    monkeypatch.setattr(verify_stopped, "QUIET_MIN", 3.0)
    monkeypatch.setattr(verify_stopped, "QUIET_MAX", 180.0)
    made = lab(COMMANDS if has_status else replace(COMMANDS, status=None))
    (made.folder / "running").unlink()
    applier, waits = made.applier(), []
    found = Checkpoint(location="/ck", query_id="q", batch_seconds=4, quiet_seconds=quiet)
    monkeypatch.setattr(applier.checkpoints, "read", lambda _location: found)
    monkeypatch.setattr(applier, "pause", waits.append)
    wait_until_stopped(applier, "q", checkpoint="/ck")
    assert sum(waits) == watched


def test_a_batch_that_comes_while_its_logs_are_watched_refuses_also_what_status_said(
    lab, monkeypatch
):
    monkeypatch.setattr(verify_stopped, "QUIET_MIN", 3.0)
    made = lab()
    (made.folder / "running").unlink()
    applier, location = made.applier(), str(made.folder / "ck")
    age(made.folder, 600)
    write = (made.folder / "ck" / "offsets" / "5").write_text
    monkeypatch.setattr(applier, "pause", lambda _seconds: write("v1"))
    with pytest.raises(RefusedError, match=r"the logs of checkpoint .* changed"):
        wait_until_stopped(applier, "q", checkpoint=location)


def test_logs_that_a_crashed_swap_brought_are_no_query_and_a_started_query_stops_it(lab):
    made = lab(replace(COMMANDS, status=None))
    (made.folder / "running").unlink()
    applier, location = made.applier(), made.folder / "ck"
    query_id = applier.checkpoints.read(str(location)).query_id
    batch = applier.checkpoints.read(str(location)).last_commit_batch
    step = SwapCutCheckpoint(pipeline="q", checkpoint=str(location), query_id=query_id, batch=batch)
    age(made.folder, 3600)
    was = step.bind(applier)
    shutil.copytree(location, was["copy"], copy_function=shutil.copy)
    prepared = sorted(path.name for path in made.folder.iterdir())
    (location / "offsets" / str(batch)).touch()
    step.check(applier, again=True)
    with pytest.raises(RefusedError, match=r"the logs of .* changed 0 s ago"):
        step.apply(applier, was)
    assert sorted(path.name for path in made.folder.iterdir()) == prepared
    age(made.folder, 3600)
    step.apply(applier, was)
    with pytest.raises(RefusedError, match="changed 0 s ago"):
        step.check(applier)
    step.check(applier, again=True)
    step.apply(applier, was)
    step.verify(applier, was)
