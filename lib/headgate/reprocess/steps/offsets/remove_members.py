"""Remove what killed processes left in a group, and verify that nobody comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StalePlanError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait
from headgate.text.numbers import name_list, plural

# A member that is alive learns of its removal by its next heartbeat, 3 s unless configured, and
# joins again: who is not back after three of them is gone.
REJOIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMembers(StepBase):
    """Remove all members of a classic group, also static members; fail if one rejoins."""

    action: ClassVar[str] = "remove_members"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = True
    group: str
    group_type: str

    def describe(self) -> str:
        return f"remove the remaining members of group {self.group}, and verify that none rejoins"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse a group of another type: only classic ones let go of members."""
        found = inspector.kafka.group(self.group)
        if found.type.value != self.group_type:
            raise StalePlanError(
                f"group {self.group} now has type {found.type}, but the plan was made for type "
                f"{self.group_type}. Run `headgate plan` again"
            )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove them, where there are any."""
        if applier.kafka.group(self.group).members:
            applier.kafka.remove_members(self.group)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where a member comes back: it is alive, and nothing else was done."""
        wait = Wait(applier=applier)
        while True:
            if members := applier.kafka.group(self.group).members:
                names = name_list({m.client_id or m.id for m in members})
                raise RefusedError(
                    f"{plural(len(members), 'member')} of group {self.group} rejoined after the "
                    f"removal ({names}), so the application still runs. Stop the application, then "
                    "run `headgate plan` again"
                )
            if wait.seconds >= REJOIN_SECONDS:
                return
            wait.pause()
