"""Give a step the commands that are registered now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headgate.model.registry import Commands
from headgate.plan.step import Step
from headgate.plan.steps.fence import Unfence
from headgate.plan.steps.local_state import ClearLocalState
from headgate.plan.steps.process import AskPerson, StartPipeline, StopPipeline


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
