"""Which fence a run left up, and when a cancelled run takes its own off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.steps import StopPipeline, Unfence
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.process.stop_start import Beginning


def fence_left(steps: Sequence[Step], records: Mapping[int, Record]) -> StopPipeline | None:
    """Return the stop whose fence is up, or may be, after a run with this journal."""
    up: StopPipeline | None = None
    for position, step in enumerate(steps):
        record = records.get(position, Record())
        if isinstance(step, StopPipeline) and step.fence is not None:
            fences = record.begun and record.state.may_have_effect and not record.unfenced
            up = step if fences else up
        elif takes_off(step) and record.state is StepState.DONE:
            up = None
    return up


def takes_off(step: Step) -> bool:
    """Whether the step takes a pipeline's fence off."""
    return isinstance(step, Unfence) or (isinstance(step, Beginning) and step.unfence is not None)


def may_lift(steps: Sequence[Step], records: Mapping[int, Record], position: int) -> bool:
    """Whether a run that is cancelled at this step has done nothing but to fence and to stop.

    Then its fence protects nothing, and a resume puts it up again with the same step.
    """
    step = steps[position]
    if not (isinstance(step, StopPipeline) and step.fence and step.unfence):
        return False
    others = (r for p, r in records.items() if p != position)
    begun = records.get(position, Record()).begun
    return begun and not any(r.begun and r.state.may_have_effect for r in others)
