"""Give a step the commands that are registered now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
from headgate.reprocess.steps.process.reenable_restarts import Unfence
from headgate.reprocess.steps.process.stop_start import AskPerson, StartPipeline, StopPipeline


def rebind(step: Step, commands: Commands) -> Step:
    """Return the step with the commands that are registered now.

    For steps that a person asks for anew, an undo or a resume: often the command was the fault.
    """
    stop, start = commands.stop, commands.start
    now: dict[str, Any] = {
        "has_status": commands.status is not None,
        "fence": commands.fence,
        "unfence": commands.unfence,
    }
    match step:
        case StopPipeline():
            return replace(step, command=stop, start=start, **now)
        case StartPipeline() if start is not None:
            return replace(step, command=start, stop=stop, **now)
        case AskPerson():
            return replace(step, stop=stop, **now)
        case ClearLocalState() if commands.clean is not None:
            return replace(step, command=commands.clean)
        case Unfence() if commands.unfence is not None:
            return replace(step, command=commands.unfence, fence=commands.fence)
        case _:
            return step
