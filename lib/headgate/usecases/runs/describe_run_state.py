"""Describe the state of pipeline and steps after a run that has stopped or is stopping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.reprocess.steps.base.step import Step, pipeline_of
from headgate.reprocess.steps.process.pause import PauseProcessing, ResumeProcessing
from headgate.reprocess.steps.process.stop_start import ManualStep, StartStep, StopPipeline
from headgate.store.rows import RunRow, RunState
from headgate.text.numbers import plural

_DONE, _PARTLY = "done", ("failed", "in_doubt", "running")


def describe_run_state(
    row: RunRow,
    steps: Sequence[Step],
    states: Sequence[str],
    *,
    can_undo: bool,
    can_resume: bool,
    suspended: tuple[StopPipeline, ...] = (),
    is_rolling_back: bool = False,
) -> tuple[str, ...]:
    """Return sentences: what is done, whether the pipelines run, and what the user can do now.

    `states` are the states of the steps. `suspended` are the stops after which restarts are still
    suspended. `is_rolling_back`: the run is being rolled back. If the run completed, the only
    sentences are those about suspended restarts.
    """
    if not steps:
        return ()
    if row.state is RunState.DONE:
        return tuple(
            said
            for stop in suspended
            for said in _suspension(row, stop, can_undo=can_undo, can_resume=False)
        )
    if row.state.is_active and is_rolling_back:
        return tuple(_active_back(row, states))
    if row.state.is_active:
        return tuple(_active(row, steps, states)) if row.cancel_requested else ()
    told = [_done(states), *_broken(steps, states), *_pipeline(steps, states)]
    final = [*_final(steps, states)] if can_undo else []
    can_undo = can_undo and not final
    for stop in suspended:
        sure = _surely_up(stop, steps, states)
        told += _suspension(row, stop, can_undo=can_undo, can_resume=can_resume, sure=sure)
    return (*told, *_ways(row, can_undo=can_undo, can_resume=can_resume), *final[:1])


def _active(row: RunRow, steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    if row.state is RunState.QUEUED:
        yield "No step has started. The worker ends the run without changes."
        return
    yield _done(states)
    now = next((n for n, state in enumerate(states) if state == "running"), None)
    if now is not None:
        yield (
            f"Step {now + 1} is in progress ({steps[now].describe()}). The run stops when this "
            "step ends, or earlier if the step waits."
        )
    else:
        yield "The run stops before its next step."


def _active_back(row: RunRow, states: Sequence[str]) -> Iterator[str]:
    back = states.count("undone")
    yield f"A step was blocked, so the run is rolling back. Steps rolled back so far: {back}."
    if row.cancel_requested:
        yield "The rollback stops before its next step, or earlier if the current step waits."


def _done(states: Sequence[str]) -> str:
    done, undone = states.count(_DONE), states.count("undone")
    if undone:
        were = "was" if undone == 1 else "were"
        return f"{undone} of {plural(len(states), 'step')} {were} rolled back."
    if not done and not any(state in _PARTLY for state in states):
        return "No step has started: nothing was changed."
    is_one = done == 1 or len(states) == 1
    return f"{done} of {plural(len(states), 'step')} {'is' if is_one else 'are'} done."


def _broken(steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    for number, (step, state) in enumerate(zip(steps, states, strict=True), start=1):
        if state in ("failed", "in_doubt"):
            yield f"Step {number} may be partly applied: {step.describe()}."


def _pipeline(steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    """Say how each was left, as far as the run's own steps show: the last started step counts."""
    told: dict[str | None, str] = {}
    for step, state in zip(steps, states, strict=True):
        if state == _DONE or state in _PARTLY:
            name = pipeline_of(step, None)
            told[name] = _left(step, is_done=state == _DONE, before=told.get(name, ""))
    yield from filter(None, told.values())


def _left(step: Step, *, is_done: bool, before: str) -> str:
    """Return how a pipeline is after a step; `before` where the step is about something else."""
    match step:
        case StopPipeline():
            how = "was stopped before or during the run, and was not started again"
            return f"{step.pipeline} {how if is_done else 'may or may not be stopped'}."
        case PauseProcessing():
            how = (
                "is paused, but its processes are still running"
                if is_done
                else "may or may not be paused"
            )
            return f"{step.pipeline} {how}."
        case ManualStep(waits=False) if is_done:
            return (
                f"{step.pipeline} was already stopped before the run. Start the pipeline yourself."
            )
        case StartStep() | ResumeProcessing() if is_done:
            return ""
        case StartStep():
            return (
                f"{step.pipeline} was stopped, and the start was not completed: "
                f"{step.pipeline} may or may not be running."
            )
        case ResumeProcessing():
            return (
                f"{step.pipeline} was paused, and the resume was not completed: "
                f"{step.pipeline} may still be paused."
            )
        case _:
            return before


def _surely_up(suspended: StopPipeline, steps: Sequence[Step], states: Sequence[str]) -> bool:
    """Whether nothing failed that suspends or re-enables restarts: else it may be either way."""
    return not any(
        state in _PARTLY and (step == suspended or step.reenables)
        for step, state in zip(steps, states, strict=True)
    )


def _suspension(
    row: RunRow,
    suspended: StopPipeline,
    *,
    can_undo: bool,
    can_resume: bool,
    sure: bool = True,
) -> Iterator[str]:
    """Say that restarts are suspended, or may be, what that means, and what re-enables them."""
    ways = [f"`headgate resume {row.id}`"] if can_resume else []
    ways += [f"`headgate undo {row.id}`"] if can_undo else []
    ways += [f"`{suspended.reenable}`"] if suspended.reenable else []
    name, how = suspended.pipeline, suspended.suspend
    end = f"until {' or '.join(ways) or 'somebody'} re-enables restarts."
    yield (
        f"Restarts of {name} are suspended (`{how}`). No orchestrator starts {name} {end}"
        if sure
        else f"Restarts of {name} may be suspended (`{how}`). If so, no orchestrator starts {name}"
        f" {end}"
    )


def _final(steps: Sequence[Step], states: Sequence[str]) -> Iterator[str]:
    """Say why an undo is blocked: a step without a rollback is done."""
    for number, (step, state) in enumerate(zip(steps, states, strict=True), start=1):
        if state == _DONE and not step.undoable:
            yield f"Step {number} can't be rolled back ({step.describe()})."


def _ways(row: RunRow, *, can_undo: bool, can_resume: bool) -> Iterator[str]:
    if can_resume and can_undo:
        yield (
            f"Continue with `headgate resume {row.id}`, or roll back with `headgate undo {row.id}`."
        )
    elif can_resume:
        yield f"Continue with `headgate resume {row.id}`."
    elif can_undo:
        yield f"Roll back with `headgate undo {row.id}`."
