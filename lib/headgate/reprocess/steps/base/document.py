"""What every step does the same way: to be a JSON document, and to say what of it is approved."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.step import PriorState, Step


class StepBase:
    """The usual answers of a step; a step says for itself what differs.

    `moving` names the fields that move by themselves on a live pipeline: they are shown, and no
    part of what is approved. Most steps are never known to be applied: their `apply` does what is
    missing.
    """

    __slots__ = ()

    action: ClassVar[str]
    symbol: ClassVar[str]
    forgets: ClassVar[bool] = False
    moving: ClassVar[frozenset[str]] = frozenset()

    @property
    def stops(self) -> bool:
        """It doesn't."""
        return False

    @property
    def takes_output_back(self) -> bool:
        """It doesn't."""
        return False

    @property
    def reenables(self) -> bool:
        """It doesn't."""
        return False

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """None."""
        return ()

    def details(self) -> dict[str, Any]:
        """Return everything the step holds, as JSON values; `load_step` reads it back."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    def intent(self) -> dict[str, Any]:
        """Return what is approved: everything but what moves by itself."""
        kept = {k: v for k, v in self.details().items() if k not in self.moving}
        return {"action": self.action, **kept}

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Nothing to refuse."""

    def bind(self, applier: Applier) -> PriorState:
        """Nothing is replaced."""
        return {}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Never: doing once more what is done already does no harm."""
        return False

    def reached(self, applier: Applier, was: PriorState) -> bool:
        """As after a crash: the effect that is there counts, whoever reported a failure."""
        return self.is_applied(applier, was)

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """There is nothing to undo."""
        return ()

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """All that it did, where it can't be undone."""
        return None

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """Nothing must hold."""
        return {}

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Nothing is in the way."""
        return ()

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Nothing is lost."""
        return ()

    def rebind(self, commands: Commands) -> Self:
        """It has no command."""
        return self

    def preview(self, inspector: Inspector) -> Self:
        """It shows nothing that moves."""
        return self

    def lag(self) -> int:
        """It restores no offset."""
        return 0

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """It does no harm to a pipeline that runs, or refuses by itself."""
        return None

    def reenable_last(self, commands: Commands) -> tuple[Step, ...]:
        """It suspends nothing."""
        return ()
