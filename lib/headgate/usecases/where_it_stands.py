"""Say where a run that was stopped or is being stopped leaves things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.plan.step import Step
from headgate.plan.steps import AskPerson, StartPipeline, StopPipeline
from headgate.store.runs import RunRow, RunState

_DONE, _PARTLY = "done", ("failed", "in_doubt", "running")


def where_it_stands(
    row: RunRow, steps: Sequence[Step], states: Sequence[str], *, can_undo: bool, can_resume: bool
) -> tuple[str, ...]:
    """Return a sentence each on what is done, whether the pipeline runs, and what can be done now.

    `states` are those of the steps, as a run is shown. A run that ended well needs no sentence.
    """
    if row.state is RunState.DONE or not steps:
        return ()
    if row.state.is_active:
        return tuple(_active(row, steps, states)) if row.cancel_requested else ()
    told = [_done(states), *_broken(steps, states), *_pipeline(steps, states)]
    return (*told, *_ways(row, can_undo=can_undo, can_resume=can_resume))


def _active(row: RunRow, steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    if row.state is RunState.QUEUED:
        yield "No step was begun: the worker that takes it ends it at once."
        return
    yield _done(states)
    now = next((n for n, state in enumerate(states) if state == "running"), None)
    if now is not None:
        yield (
            f"Step {now + 1} is under way ({steps[now].describe()}): the run stops where this step"
            " waits, or when it is done."
        )


def _done(states: Sequence[str]) -> str:
    done, undone = states.count(_DONE), states.count("undone")
    if undone:
        return f"{undone} of {len(states)} steps were taken back."
    if not done and not any(state in _PARTLY for state in states):
        return "No step was begun: nothing was changed."
    return f"{done} of {len(states)} steps are done."


def _broken(steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    for number, (step, state) in enumerate(zip(steps, states, strict=True), start=1):
        if state in ("failed", "in_doubt"):
            yield f"Step {number} may be done in part: {step.describe()}."


def _pipeline(steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    """Say whether it was left stopped, as far as the run's own steps tell."""
    pairs = list(zip(steps, states, strict=True))
    stopped = [s for s, state in pairs if isinstance(s, StopPipeline) and state == _DONE]
    starts = [state for s, state in pairs if isinstance(s, (StartPipeline, AskPerson))]
    if not stopped or _DONE in starts:
        return
    name = stopped[-1].pipeline
    if any(state in _PARTLY for state in starts):
        yield f"{name} was stopped, and its start was begun: it may run or not."
    else:
        yield f"{name} was stopped or was so before, and was not started again."


def _ways(row: RunRow, *, can_undo: bool, can_resume: bool) -> Iterator[str]:
    if can_resume and can_undo:
        yield f"Go on with `headgate resume {row.id}`, or back with `headgate undo {row.id}`."
    elif can_resume:
        yield f"Go on with `headgate resume {row.id}`."
    elif can_undo:
        yield f"Go back with `headgate undo {row.id}`."
