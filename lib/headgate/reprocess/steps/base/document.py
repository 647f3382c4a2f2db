"""What every step does the same way: to be a JSON document, and to say what of it is approved."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from headgate.reprocess.ports.inspector import Effects, World
from headgate.reprocess.steps.base.step import Step, Was


class StepBase:
    """The usual answers of a step; a step says for itself what differs.

    `moving` names the fields that move by themselves on a live pipeline: they are shown, and no
    part of what is approved. Most steps are never settled: their `apply` does what is missing.
    """

    __slots__ = ()

    action: ClassVar[str]
    symbol: ClassVar[str]
    moving: ClassVar[frozenset[str]] = frozenset()

    def details(self) -> dict[str, Any]:
        """Return everything the step holds, as JSON values; `load_step` reads it back."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    def intent(self) -> dict[str, Any]:
        """Return what is approved: everything but what moves by itself."""
        kept = {k: v for k, v in self.details().items() if k not in self.moving}
        return {"action": self.action, **kept}

    def check(self, world: World, *, again: bool = False) -> None:
        """Nothing to refuse."""

    def bind(self, effects: Effects) -> Was:
        """Nothing is replaced."""
        return {}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Never: doing once more what is done already does no harm."""
        return False

    def reached(self, effects: Effects, was: Was) -> bool:
        """As after a crash: the effect that is there counts, whoever reported a failure."""
        return self.settled(effects, was)

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Nothing is put back."""
        return ()

    def remains(self, world: World, was: Was) -> tuple[str, ...] | None:
        """All that it did, where it can't be undone."""
        return None

    def facts(self, world: World) -> dict[str, Any]:
        """Nothing must hold."""
        return {}

    def blockers(self, world: World) -> tuple[str, ...]:
        """Nothing is in the way."""
        return ()

    def risks(self, world: World) -> tuple[str, ...]:
        """Nothing is lost."""
        return ()
