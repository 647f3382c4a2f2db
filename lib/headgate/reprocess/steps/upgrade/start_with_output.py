"""Start a new version with the topic that it writes to, and stop it before the switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.reprocess.steps.upgrade.verify_version import StartVersion

VARIABLE = "HEADGATE_OUTPUT_TOPIC"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWithOutput(StartVersion):
    """Start the new version; HEADGATE_OUTPUT_TOPIC is the topic that it must write to."""

    action: ClassVar[str] = "start_with_output"
    output: str

    def describe(self) -> str:
        return (
            f"{self._reenables}start {self.pipeline} with `{self.command}` "
            f"({VARIABLE}={self.output})"
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Re-enable restarts; run the command unless it is known to run already."""
        self._reenable_restarts(applier)
        if applier.processes.status(self.pipeline) is not Status.RUNS:
            applier.processes.command(self.pipeline, "start", output=self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopBeside(StopPipeline):
    """Stop the new version, which wrote to the shadow topic; a rollback doesn't start it again."""

    action: ClassVar[str] = "stop_beside"

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Keep the new version stopped."""
        return ()
