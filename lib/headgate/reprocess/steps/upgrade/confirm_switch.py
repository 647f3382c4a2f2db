"""Wait before the switch of an online upgrade until somebody confirms it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from headgate.errors import RefusedError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait, ask_and_wait

CONFIRM = "confirm"
"""The goal of `run_beside`, and the word of the question in the journal."""
# For how long a status of `stopped` means that the new version has ended.
_STOPPED_SECONDS = 10.0
# How often the new version's status is asked for while the run waits.
_LOOK_SECONDS = 5.0


def switch_request(new: str, pipeline: str, topic: str) -> str:
    """Return what a person is asked before the switch."""
    return (
        f"To keep the running version of {pipeline}, cancel this run and undo it. To switch to "
        f"{new}, check its results in topic {topic}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmSwitch(StepBase):
    """Wait until somebody confirms the switch, while both versions run.

    `new` is the pipeline of the new version, and `topic` has its results.
    """

    action: ClassVar[str] = "confirm_switch"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    new: str
    topic: str

    def describe(self) -> str:
        return f"wait until somebody confirms the switch from {self.pipeline} to {self.new}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Check nothing: the wait changes nothing."""

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Ask, and wait; RefusedError if the new version ends meanwhile."""
        wait, calls = Wait(applier=applier, poll=_LOOK_SECONDS), count()

        def look() -> None:
            if next(calls) % int(_LOOK_SECONDS):
                return
            wait.look(self.new)
            if wait.ended >= _STOPPED_SECONDS:
                raise RefusedError(
                    f"{self.new} ended before somebody confirmed the switch. See the log of "
                    f"{self.new} for the cause, then run `headgate plan` again"
                )

        ask_and_wait(applier, CONFIRM, switch_request(self.new, self.pipeline, self.topic), look)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Check nothing: the journal has who confirmed the switch, and when."""
