"""Re-enable the restarts of a pipeline by its orchestrator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, check_command


@dataclass(frozen=True, slots=True, kw_only=True)
class ReenableRestarts(StepBase):
    """Re-enable restarts of a pipeline that this run did not change otherwise."""

    action: ClassVar[str] = "reenable_restarts"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str | None
    suspend: str | None

    def describe(self) -> str:
        return f"re-enable restarts of {self.pipeline} with `{self.command}`"

    @property
    def reenables(self) -> bool:
        """It does nothing else."""
        return True

    def rebind(self, commands: Commands) -> Self:
        """Take the reenable command, if there is one."""
        if commands.reenable is None:
            return self
        return replace(self, command=commands.reenable, suspend=commands.suspend)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(inspector, self.pipeline, "reenable", self.command)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command, which does no harm if they are enabled."""
        applier.processes.command(self.pipeline, "reenable")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Only the command's own success shows it."""
