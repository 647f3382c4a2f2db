"""Where a run that was stopped leaves things, in sentences that the journal bears out."""

from __future__ import annotations

import pytest

from headgate.plan.steps import RecordOffsets, StartPipeline, StopPipeline
from headgate.store.runs import RunRow, RunState
from headgate.usecases.where_it_stands import where_it_stands

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
    return " ".join(where_it_stands(row(state, cancel=cancel), STEPS, states, **ways))


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["skipped", "skipped", "skipped"], ["nothing was changed"]),
        (["done", "skipped", "skipped"], ["1 of 3 steps are done", "was not started again"]),
        (["done", "failed", "skipped"], ["Step 2 may be done in part: record", "was not started"]),
        (["done", "done", "failed"], ["2 of 3", "its start was begun: it may run or not"]),
        (["done", "in_doubt", "skipped"], ["Step 2 may be done in part"]),
        (["undone", "undone", "skipped"], ["2 of 3 steps were taken back"]),
    ],
)
def test_a_run_that_stopped_says_what_is_done_and_whether_the_pipeline_runs(states, said):
    told = stands(RunState.CANCELLED, states)
    for words in said:
        assert words in told
    assert "Go on with `headgate resume r1`, or back with `headgate undo r1`." in told


def test_only_the_ways_that_are_open_are_named():
    states = ["done", "failed", "skipped"]
    assert "resume" not in stands(RunState.FAILED, states, resume=False)
    assert "undo" not in stands(RunState.FAILED, states, undo=False)


def test_a_run_that_is_asked_to_stop_says_where_it_will():
    told = stands(RunState.RUNNING, ["done", "running", "waiting"], cancel=True)
    assert "Step 2 is under way (record" in told
    assert stands(RunState.RUNNING, ["done", "running", "waiting"]) == ""
    assert "ends it at once" in stands(RunState.QUEUED, ["waiting"] * 3, cancel=True)


def test_a_run_that_is_done_needs_no_word():
    assert stands(RunState.DONE, ["done"] * 3) == ""
