"""Give a step the commands that are registered now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
from headgate.reprocess.steps.process.reenable_restarts import ReenableRestarts
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline, StopPipeline


def rebind(step: Step, commands: Commands) -> Step:
    """Return the step with the commands that are registered now.

    For steps that a person asks for anew, an undo or a resume: often the command was the fault.
    """
    stop, start = commands.stop, commands.start
    now: dict[str, Any] = {
        "has_status": commands.status is not None,
        "suspend": commands.suspend,
        "reenable": commands.reenable,
    }
    match step:
        case StopPipeline():
            return replace(step, command=stop, start=start, **now)
        case StartPipeline() if start is not None:
            return replace(step, command=start, stop=stop, **now)
        case ManualStep():
            return replace(step, stop=stop, **now)
        case ClearLocalState() if commands.clean is not None:
            return replace(step, command=commands.clean)
        case ReenableRestarts() if commands.reenable is not None:
            return replace(step, command=commands.reenable, suspend=commands.suspend)
        case _:
            return step
