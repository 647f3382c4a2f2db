"""Move a folder aside, keep it, and put it back: what the steps that rename have in common."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Effects
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import Was


class RestoreFolder(StepBase):
    """Put a folder back that was moved to `aside`; the one in its place is moved away instead.

    `place` is where it belongs, `thing` a word for it, `hash` what it had when it was moved. Where
    the one in its place goes is in `was` under `key`, with `word` in its name.
    """

    __slots__ = ()

    undoable: ClassVar[bool] = False
    key: ClassVar[str]
    word: ClassVar[str]
    aside: str
    hash: str

    @property
    def place(self) -> str:
        """Where it belongs."""
        raise NotImplementedError

    @property
    def thing(self) -> str:
        """What it is, in a word or two."""
        raise NotImplementedError

    def bind(self, effects: Effects) -> Was:
        """Refuse where the old one is not as it was left; decide where the new one goes."""
        kept = effects.tree_hash(self.aside)
        if kept is None and effects.tree_hash(self.place) != self.hash:
            raise RefusedError(f"the old {self.thing} is gone: {self.aside} is not there")
        if kept is not None and kept != self.hash:
            raise RefusedError(
                f"the old {self.thing} {self.aside} was changed since it was put aside"
            )
        return {self.key: beside(self.place, self.word, effects.run)}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether the old one is in its place."""
        gone = not effects.exists(self.aside)
        return gone and effects.tree_hash(self.place) == self.hash

    def apply(self, effects: Effects, was: Was) -> None:
        """Move the new one away and the old one back, each in one step."""
        if not effects.exists(self.aside):
            return
        if effects.exists(self.place):
            effects.move(self.place, was[self.key])
        effects.move(self.aside, self.place)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where a byte differs."""
        if effects.tree_hash(self.place) != self.hash:
            raise StepError(f"{self.place} is not byte for byte what it was")


def beside(place: str, word: str, run: str) -> str:
    """Return a hidden neighbour of a folder: a rename needs the same file system."""
    path = PurePosixPath(place)
    return str(path.with_name(f".{path.name}.{word}-{run}"))


def swap(effects: Effects, place: str, *, made: str, aside: str) -> None:
    """Move what is at `place` to `aside` and `made` into its place, each in one step.

    What was done before a crash is not done again. StepError where `made` is gone before
    anything was moved.
    """
    if not effects.exists(aside):
        if not effects.exists(made):
            raise StepError(f"the copy {made} is gone: nothing was moved")
        effects.move(place, aside)
    if effects.exists(made):
        effects.move(made, place)


def check_kept(effects: Effects, place: str, was: Was) -> None:
    """Fail where what was moved aside from `place` has not the `hash` that it had there."""
    if effects.tree_hash(was["aside"]) != was["hash"]:
        raise StepError(f"{was['aside']} is not what {place} was: something writes")
