"""Where a run that was stopped leaves things, in sentences that the journal bears out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.process.pause import PauseProcessing, ResumeProcessing
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline, StopPipeline
from headgate.reprocess.steps.topics.add_partitions import AddPartitions
from headgate.reprocess.steps.upgrade.verify_version import start_version
from headgate.store.rows import RunRow, RunState
from headgate.usecases.runs.describe_run_state import describe_run_state

STOP = StopPipeline(pipeline="q", command="stop", start="start", has_status=True, group="g")
STEPS = (
    STOP,
    RecordOffsets(group="g"),
    StartPipeline(pipeline="q", command="start", stop="stop", has_status=True, group="g"),
)


def row(state, *, cancel=False):
    return RunRow(
        id="r1",
        scenario="from-scratch",
        pipeline="q",
        plan_hash="h",
        plan="{}",
        state=state,
        created_at="t",
        created_by="ann",
        cancel_requested=cancel,
    )


def stands(state, states, *, cancel=False, undo=True, resume=True):
    ways = {"can_undo": undo, "can_resume": resume}
    return " ".join(describe_run_state(row(state, cancel=cancel), STEPS, states, **ways))


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["skipped", "skipped", "skipped"], ["nothing was changed"]),
        (["done", "skipped", "skipped"], ["1 of 3 steps is done", "was not started again"]),
        (
            ["done", "failed", "skipped"],
            ["Step 2 may be partly applied: save", "was not started"],
        ),
        (["done", "done", "failed"], ["2 of 3", "the start was not completed: q may"]),
        (["done", "in_doubt", "skipped"], ["Step 2 may be partly applied"]),
        (["undone", "undone", "skipped"], ["2 of 3 steps were rolled back"]),
    ],
)
def test_a_run_that_stopped_says_what_is_done_and_whether_the_pipeline_runs(states, said):
    told = stands(RunState.CANCELLED, states)
    for words in said:
        assert words in told
    assert "Continue with `headgate resume r1`, or roll back with `headgate undo r1`." in told


def test_only_the_ways_that_are_open_are_named():
    states = ["done", "failed", "skipped"]
    assert "resume" not in stands(RunState.FAILED, states, resume=False)
    assert "undo" not in stands(RunState.FAILED, states, undo=False)


def test_no_way_back_is_offered_from_a_step_that_has_none():
    topics = {"in": {"id": "i", "partitions": 2}}
    steps = (STEPS[0], AddPartitions(topics=topics, to=4), STEPS[2])
    ways = {"can_undo": True, "can_resume": True}
    told = describe_run_state(row(RunState.FAILED), steps, ["done", "done", "failed"], **ways)
    assert told[-2:] == (
        "Continue with `headgate resume r1`.",
        "Step 2 can't be rolled back (increase partitions: in (2) -> 4).",
    )
    # Whether it did something is for the undo itself to find out.
    told = describe_run_state(row(RunState.FAILED), steps, ["done", "failed", "skipped"], **ways)
    assert "or roll back with `headgate undo r1`" in told[-1]


def test_a_run_that_is_asked_to_stop_says_where_it_will():
    told = stands(RunState.RUNNING, ["done", "running", "waiting"], cancel=True)
    assert "Step 2 is in progress (save" in told
    assert stands(RunState.RUNNING, ["done", "running", "waiting"]) == ""
    assert "The worker ends the run without changes" in stands(
        RunState.QUEUED, ["waiting"] * 3, cancel=True
    )


def test_a_run_that_is_done_needs_no_word():
    assert stands(RunState.DONE, ["done"] * 3) == ""


PAUSE = PauseProcessing(pipeline="q", command="pause", resume="resume", group="g")
ASK = ManualStep(pipeline="q", request="start q", stop=None, has_status=False, waits=False)


@pytest.mark.parametrize(
    ("step", "state", "said"),
    [
        (PAUSE, "done", "q is paused, but its processes are still running."),
        (PAUSE, "failed", "q may or may not be paused."),
        (ResumeProcessing(pipeline="q", command="pause", resume="r"), "failed", "was paused, and"),
        (ResumeProcessing(pipeline="q", command="pause", resume="r"), "done", ""),
        (STOP, "failed", "q may or may not be stopped."),
        (ASK, "done", "Start the pipeline yourself."),
        (replace(ASK, waits=True), "done", ""),
        (start_version(STOP), "failed", "q was stopped, and the start was not completed"),
    ],
)
def test_every_step_that_stops_or_starts_is_known(step, state, said):
    steps, states = (step, RecordOffsets(group="g")), [state, "skipped"]
    ways = {"can_undo": True, "can_resume": True}
    told = describe_run_state(row(RunState.CANCELLED), steps, states, **ways)
    about = [sentence for sentence in told if sentence.startswith("q ")]
    assert said in " ".join(about) and bool(about) is bool(said)


def test_suspended_restarts_are_named_also_where_the_run_is_done():
    suspended = replace(STOP, suspend="suspend", reenable="resume it")
    ways = {"can_undo": False, "can_resume": False}
    (told,) = describe_run_state(
        row(RunState.DONE), STEPS, ["done"] * 3, suspended=(suspended,), **ways
    )
    assert told == (
        "Restarts of q are suspended (`suspend`). No orchestrator starts q until `resume"
        " it`"
        " re-enables restarts."
    )


@pytest.mark.parametrize(
    ("states", "is_sure"),
    [
        (["done", "failed", "skipped"], True),
        (["failed", "skipped", "skipped"], False),
        (["done", "done", "failed"], False),
        (["done", "done", "in_doubt"], False),
    ],
)
def test_restarts_that_were_being_suspended_or_reenabled_may_be_either(states, is_sure):
    suspended = replace(STOP, suspend="suspend", reenable="resume it")
    steps = (suspended, STEPS[1], replace(STEPS[2], suspend="suspend", reenable="resume it"))
    ways = {"can_undo": True, "can_resume": True}
    told = " ".join(
        describe_run_state(row(RunState.FAILED), steps, states, suspended=(suspended,), **ways)
    )
    sure, unsure = (f"Restarts of q {word} suspended (`suspend`)" for word in ("are", "may be"))
    assert (sure in told, unsure in told) == (is_sure, not is_sure)


def test_one_step_is_no_plural():
    ways = {"can_undo": True, "can_resume": True}
    told = describe_run_state(row(RunState.CANCELLED), STEPS[:1], ["done"], **ways)
    assert "1 of 1 step is done." in " ".join(told)
