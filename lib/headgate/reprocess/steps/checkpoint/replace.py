"""Keep a copy of a checkpoint, and replace it with an empty folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import CopyRemoval
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap, check_query
from headgate.text.numbers import size


class CheckpointCopy(StepBase):
    """Keep a whole copy of a stopped query's checkpoint, whose name is in `was` under `key`."""

    __slots__ = ()

    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    key: ClassVar[str]
    pipeline: str
    checkpoint: str
    query_id: str

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again) or the checkpoint is not the planned query's."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the copy is whole."""
        return applier.folders.tree_hash(was[self.key]) == str(was["hash"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where the copy differs: then somebody writes to the checkpoint."""
        if not self.is_applied(applier, was):
            raise RefusedError(
                f"checkpoint {self.checkpoint} changed during the copy: another process still "
                "writes to the checkpoint. Stop that process, then run `headgate plan` again"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotCheckpoint(CheckpointCopy):
    """Copy the checkpoint and record its hash; the undo verifies the hash.

    It has `bytes`, of which `copied` use disk space; the rest is linked. None if not measured.
    """

    action: ClassVar[str] = "snapshot_checkpoint"
    key: ClassVar[str] = "copy"
    moving: ClassVar[frozenset[str]] = frozenset({"bytes", "copied"})
    pipeline: str
    checkpoint: str
    query_id: str
    bytes: int | None = None
    copied: int | None = None

    def describe(self) -> str:
        if self.bytes is None:
            return f"copy the checkpoint {self.checkpoint}"
        linked = self.copied is not None and self.copied < self.bytes
        how = "state as hard links" if linked else "full copy"
        return f"copy the checkpoint {self.checkpoint} ({size(self.bytes)}, {how})"

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes, and take the hash that the copy must have."""
        copy = str(PurePosixPath(applier.folders.snapshot_folder()) / "checkpoint")
        return {"copy": copy, "hash": applier.folders.tree_hash(self.checkpoint)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy; what an earlier try left goes first."""
        applier.folders.copy_tree(self.checkpoint, was["copy"])

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy if it equals the checkpoint."""
        drop = DeleteSnapshot(checkpoint=self.checkpoint, copy=was["copy"], hash=was["hash"])
        return (drop,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceCheckpoint(CheckpointSwap):
    """Move the checkpoint to backup and create an empty folder at its path."""

    action: ClassVar[str] = "replace_checkpoint"
    pipeline: str
    checkpoint: str
    query_id: str

    def describe(self) -> str:
        return f"move checkpoint {self.checkpoint} to backup and create an empty folder at its path"

    def bind_copy(self, applier: Applier) -> PriorState:
        """Nothing is made beside it."""
        return {}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename, unless that was done, and make the empty folder."""
        if not applier.folders.exists(was["aside"]):
            applier.folders.move(self.checkpoint, was["aside"])
        applier.folders.make_like(self.checkpoint, was["aside"])

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail if the new folder isn't empty."""
        if applier.checkpoints.read(self.checkpoint) is not None:
            raise StepError(
                f"a query was started on {self.checkpoint} and created a checkpoint there. Stop "
                f"the query, run `headgate undo {applier.run}`, then `headgate plan` again"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSnapshot(CopyRemoval):
    """Delete the copy of a checkpoint that was restored."""

    action: ClassVar[str] = "delete_snapshot"
    checkpoint: str
    copy: str
    hash: str

    @property
    def folder(self) -> str:
        return self.copy

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove it, if the checkpoint is what the copy is of: else it may be the last one."""
        if applier.folders.tree_hash(self.checkpoint) == self.hash:
            applier.folders.remove_tree(self.copy)
        else:
            applier.note(
                f"the copy {self.copy} is kept, because checkpoint {self.checkpoint} now differs "
                "from the copy"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """A copy that is kept does no harm."""
