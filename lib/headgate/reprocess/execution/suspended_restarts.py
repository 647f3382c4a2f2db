"""Whose restarts a run left suspended, and when a cancelled run re-enables them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.steps.base.step import Step, pipeline_of
from headgate.reprocess.steps.process.stop_start import StopPipeline


def find_suspensions(
    steps: Sequence[Step], records: Mapping[int, Record]
) -> tuple[StopPipeline, ...]:
    """Return the stops that left restarts suspended, or may have, after a run with this journal.

    One for each pipeline at most, in the order of the steps.
    """
    up: dict[str | None, StopPipeline] = {}
    for position, step in enumerate(steps):
        record = records.get(position, Record())
        if isinstance(step, StopPipeline) and step.suspend is not None:
            if record.begun and record.state.may_have_effect and not record.reenabled:
                up[step.pipeline] = step
        elif step.reenables and record.state is StepState.DONE:
            up.pop(pipeline_of(step, None), None)
    return tuple(up.values())


def may_reenable(steps: Sequence[Step], records: Mapping[int, Record], position: int) -> bool:
    """Whether a run that is cancelled at this step only suspended restarts and stopped.

    Then the suspension protects nothing, and a resume suspends again with the same step.
    """
    step = steps[position]
    if not (isinstance(step, StopPipeline) and step.suspend and step.reenable):
        return False
    others = (r for p, r in records.items() if p != position)
    begun = records.get(position, Record()).begun
    return begun and not any(r.begun and r.state.may_have_effect for r in others)
