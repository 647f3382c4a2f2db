"""Delete what a new Kafka Streams application has created: its group and its internal topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import check_gone_or_inactive
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.offsets.delete_group import is_gone
from headgate.reprocess.steps.upgrade.group_positions import internal_topics
from headgate.text.numbers import name_list


@dataclass(frozen=True, slots=True, kw_only=True)
class DropApplication(StepBase):
    """Delete the group and the internal topics of an application that did not exist before.

    Its local state is cleared by the `clean` command, if one is registered.
    """

    action: ClassVar[str] = "drop_application"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    pipeline: str
    group: str

    def describe(self) -> str:
        return f"delete group {self.group} with its offsets, internal topics and state"

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Say what goes."""
        return (
            f"the undo deletes the state of {self.pipeline}: its group and its internal topics",
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where it runs."""
        check_stopped(inspector, self.pipeline)
        check_gone_or_inactive(inspector, self.group, None, again=True)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Delete what is there."""
        for shape in applier.kafka.shapes(internal_topics(applier, self.group)).values():
            applier.kafka.delete_topic(shape)
        if not is_gone(applier, self.group):
            applier.kafka.delete_group(self.group)
        registered = applier.processes.registered(self.pipeline)
        if registered is not None and registered.commands.clean is not None:
            applier.processes.command(self.pipeline, "clean")
        else:
            applier.note(
                f"Manual step: delete the local state of {self.pipeline} (no `clean` command is "
                "registered)."
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where something is there again."""
        left = internal_topics(applier, self.group)
        if left or not is_gone(applier, self.group):
            what = f"topics {name_list(left)}" if left else f"group {self.group}"
            raise StepError(
                f"{self.pipeline} has recreated {what} after the deletion. Stop {self.pipeline}, "
                "then resume the run"
            )
