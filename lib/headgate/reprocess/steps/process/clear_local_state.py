"""Clear what a Kafka Streams application keeps on its hosts, or take somebody's word for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState, Step, check_command
from headgate.reprocess.steps.base.wait import ask_and_wait


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearLocalState(StepBase):
    """Clear the local state of every instance; without a `clean` command, a person does it.

    `instances` are those that a person has confirmed to be cleared, which Headgate can't verify. If
    neither is given, it is a manual step, and the run waits for it if it `waits`: what it starts
    next would count twice on an instance that still has its state.
    """

    action: ClassVar[str] = "clear_local_state"
    symbol: ClassVar[str] = "-"
    forgets: ClassVar[bool] = True
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str | None
    instances: tuple[str, ...]
    group: str
    group_type: str
    waits: bool = False

    def describe(self) -> str:
        if self.command is not None:
            return f"clear the local state of {self.pipeline} with `{self.command}`"
        if self.instances:
            names = ", ".join(self.instances)
            return (
                f"skip clearing local state on {names}: according to --local-state-cleared, it was "
                "cleared by hand (not verified)"
            )
        verb = "manual step" if self.waits else "manual step after the run"
        return (
            f"{verb}: clear the local state of {self.pipeline} on every instance (no `clean` "
            "command is registered)"
        )

    def rebind(self, commands: Commands) -> Self:
        """Take the clean command, if there is one."""
        return self if commands.clean is None else replace(self, command=commands.clean)

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one, or somebody runs."""
        check_command(inspector, self.pipeline, "clean", self.command)
        check_gone_or_inactive(inspector, self.group, None, again=True)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command, or say what was taken on trust, or ask."""
        if self.command is not None:
            applier.processes.command(self.pipeline, "clean")
        elif self.instances:
            names = ", ".join(self.instances)
            applier.note(
                "UNVERIFIED: according to --local-state-cleared, somebody cleared the local state "
                f"of {names} by hand."
            )
        elif self.waits:
            ask_and_wait(applier, "clean", self._request)
            applier.note(
                f"UNVERIFIED: somebody confirmed that the local state of {self.pipeline} was "
                "cleared."
            )
        else:
            applier.note(f"Manual step: {self._request}.")

    @property
    def _request(self) -> str:
        return (
            f"clear the local state of {self.pipeline} on every instance before it starts: call "
            "KafkaStreams#cleanUp(), or delete <state.dir>/<application.id>"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Rely on the command's exit code: Headgate can't check the disks of other hosts."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Clear the local state again, because the undo replaces the topics of this state."""
        return (replace(self, instances=()),)
