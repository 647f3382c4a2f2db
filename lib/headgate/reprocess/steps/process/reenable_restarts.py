"""Take off the fence that keeps orchestrators from starting a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.reprocess.ports.inspector import Effects, World
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import Was, check_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfence(StepBase):
    """Let orchestrators start the pipeline again, of which this run changed nothing else."""

    action: ClassVar[str] = "unfence"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str | None
    fence: str | None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"unfence {self.pipeline} with `{self.command}`"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(world, self.pipeline, "unfence", self.command)

    def apply(self, effects: Effects, was: Was) -> None:
        """Run the command, which does no harm where the fence is off."""
        effects.command(self.pipeline, "unfence")

    def verify(self, effects: Effects, was: Was) -> None:
        """Nothing shows a fence but the command's own success."""
