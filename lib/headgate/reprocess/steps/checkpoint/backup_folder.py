"""What steps share that move a folder to backup, restore it, or remove a copy of it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState


class RestoreFolder(StepBase):
    """Restore a folder from its backup `aside`; the one now at `place` is moved away instead.

    `place` is its original path, `thing` a word for it, `hash` what it had when it was moved. The
    path that the other folder moves to is in `was` under `key`, with `word` in its name.
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

    def bind(self, applier: Applier) -> PriorState:
        """Refuse where the old one is not as it was left; decide where the new one goes."""
        kept = applier.folders.tree_hash(self.aside)
        if kept is None and applier.folders.tree_hash(self.place) != self.hash:
            raise RefusedError(
                f"the backup of the old {self.thing} is missing: {self.aside} not found. Restore "
                f"that folder from your own backup of {self.place}, then undo the run again"
            )
        if kept is not None and kept != self.hash:
            raise RefusedError(
                f"the backup {self.aside} of the old {self.thing} was changed after the run moved "
                f"it there. Restore that folder from your own backup of {self.place}, then undo "
                "the run again"
            )
        return {self.key: beside(self.place, self.word, applier.run)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the old one is at its original path."""
        gone = not applier.folders.exists(self.aside)
        return gone and applier.folders.tree_hash(self.place) == self.hash

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Move the new one away and the old one back, each in one step."""
        if not applier.folders.exists(self.aside):
            return
        if applier.folders.exists(self.place):
            applier.folders.move(self.place, was[self.key])
        applier.folders.move(self.aside, self.place)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a byte differs."""
        if applier.folders.tree_hash(self.place) != self.hash:
            raise StepError(
                f"the undo restored {self.thing} {self.place}, but it differs from the original. "
                "Another process probably writes to this folder. Stop that process, and restore "
                "the folder from your own backup"
            )


class CopyRemoval(StepBase):
    """Remove a copy that a run made in a `folder` of its own, and never put in place."""

    __slots__ = ()

    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False

    @property
    def folder(self) -> str:
        """What is removed."""
        raise NotImplementedError

    def describe(self) -> str:
        return f"remove the copy {self.folder}"

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone: it may have been put in place, under another name."""
        return not applier.folders.exists(self.folder)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is still there."""
        if applier.folders.exists(self.folder):
            raise StepError(
                f"Headgate couldn't remove the copy {self.folder}. Remove that folder by hand, "
                "then resume the run"
            )


def beside(place: str, word: str, run: str) -> str:
    """Return a hidden neighbour of a folder: a rename needs the same file system."""
    path = PurePosixPath(place)
    return str(path.with_name(f".{path.name}.{word}-{run}"))


def check_kept(applier: Applier, place: str, was: PriorState) -> None:
    """Fail if the backup of a folder doesn't have the `hash` that the folder had."""
    if applier.folders.tree_hash(was["aside"]) != was["hash"]:
        raise StepError(
            f"the backup {was['aside']} differs from the original {place}: another process still "
            f"writes to the backup. Stop that process, restore {was['aside']} from your own "
            f"backup of {place}, then run `headgate undo {applier.run}`"
        )
