"""Copy a checkpoint, put a fresh one in its place, put the old one back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import prove_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import RestoreFolder, beside, check_kept
from headgate.text.numbers import size


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotCheckpoint(StepBase):
    """Keep a copy of the checkpoint, with the hash that an undo is proved by.

    It has `bytes`, of which `copied` take room; the rest is linked. None where nobody looked.
    """

    action: ClassVar[str] = "snapshot_checkpoint"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"bytes", "copied"})
    pipeline: str
    checkpoint: str
    query_id: str
    bytes: int | None = None
    copied: int | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        if self.bytes is None:
            return f"copy the checkpoint {self.checkpoint}"
        linked = self.copied is not None and self.copied < self.bytes
        how = "state as hard links" if linked else "every byte of it"
        return f"copy the checkpoint {self.checkpoint}, {size(self.bytes)}, {how}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again) or the checkpoint is not the planned query's."""
        prove_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes, and take the hash that the copy must have."""
        copy = str(PurePosixPath(applier.snapshot_folder()) / "checkpoint")
        return {"copy": copy, "hash": applier.tree_hash(self.checkpoint)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the copy is whole."""
        return applier.tree_hash(was["copy"]) == str(was["hash"])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy; what an earlier try left goes first."""
        applier.copy_tree(self.checkpoint, was["copy"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where the copy differs: then somebody writes to the checkpoint."""
        if not self.is_applied(applier, was):
            raise RefusedError(
                f"{self.checkpoint} changed while it was copied: something still writes to it"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Drop the copy, once the checkpoint is as it was."""
        drop = DeleteSnapshot(checkpoint=self.checkpoint, copy=was["copy"], hash=was["hash"])
        return (drop,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceCheckpoint(StepBase):
    """Move the checkpoint aside and leave an empty folder: the query begins anew."""

    action: ClassVar[str] = "replace_checkpoint"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"move checkpoint {self.checkpoint} to backup and create an empty folder at its path"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again), or the checkpoint is another's or can't be moved."""
        prove_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        if again:
            return
        check_movable(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the old one goes, and take the hash that an undo restores."""
        aside = beside(self.checkpoint, "before", applier.run)
        return {"aside": aside, "hash": applier.tree_hash(self.checkpoint)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Never: `apply` sees for itself which half is missing."""
        return False

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename, unless that was done, and make the empty folder."""
        if not applier.exists(was["aside"]):
            applier.move(self.checkpoint, was["aside"])
        applier.make_like(self.checkpoint, was["aside"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the old one is not whole or the new place is not empty."""
        check_kept(applier, self.checkpoint, was)
        if applier.checkpoint(self.checkpoint) is not None:
            raise StepError(f"{self.checkpoint} has a checkpoint again: something started a query")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Put the old one back."""
        return restore_steps(self.pipeline, self.checkpoint, was)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreCheckpoint(RestoreFolder):
    """Put the old checkpoint back byte for byte; the one in its place is moved aside."""

    action: ClassVar[str] = "restore_checkpoint"
    symbol: ClassVar[str] = "~"
    key: ClassVar[str] = "fresh"
    word: ClassVar[str] = "after"
    pipeline: str
    checkpoint: str
    aside: str
    hash: str

    @property
    def place(self) -> str:
        """Where it belongs."""
        return self.checkpoint

    @property
    def thing(self) -> str:
        """What it is."""
        return "checkpoint"

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"restore the old checkpoint {self.checkpoint} from {self.aside}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs; hashes are for `bind` and `verify`, only they may read."""
        prove_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a byte differs, and say that none does."""
        RestoreFolder.verify(self, applier, was)
        applier.note(f"{self.checkpoint} is byte for byte what it was ({self.hash[:12]})")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSnapshot(StepBase):
    """Remove the copy of a checkpoint that is back in its place."""

    action: ClassVar[str] = "delete_snapshot"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    checkpoint: str
    copy: str
    hash: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"remove the copy {self.copy}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Nothing to refuse: `apply` keeps the copy where it is the last one."""

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the copy is gone."""
        return not applier.exists(self.copy)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove it, if the checkpoint is what the copy is of."""
        if applier.tree_hash(self.checkpoint) == self.hash:
            applier.remove_tree(self.copy)
        else:
            applier.note(f"the copy {self.copy} is kept: {self.checkpoint} differs from it")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """A copy that is kept does no harm."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """An undo is not undone: plan anew."""
        return ()


def restore_steps(pipeline: str, checkpoint: str, was: PriorState) -> tuple[Step, ...]:
    """Return the undo of a step that kept a checkpoint: `was` has its `aside` and its `hash`."""
    return (
        RestoreCheckpoint(
            pipeline=pipeline, checkpoint=checkpoint, aside=was["aside"], hash=was["hash"]
        ),
    )


def check_movable(inspector: Inspector, location: str, query_id: str) -> None:
    """Refuse where the checkpoint is missing, another query's, or can't be moved aside."""
    found = check_query(inspector, location, query_id)
    if found.fixed:
        raise RefusedError(f"{location} can't be replaced: {found.fixed}")


def check_query(inspector: Inspector, location: str, query_id: str) -> Checkpoint:
    """Return the checkpoint there; refuse where it is missing or another query's."""
    found = inspector.checkpoint(location)
    if found is None:
        raise RefusedError(f"checkpoint {location} not found")
    if found.query_id != query_id:
        raise StalePlanError(
            f"checkpoint {location} belongs to query {found.query_id} now, not to {query_id}"
        )
    return found
