"""Repair a copy of a checkpoint, prove it, and put it in the place of the broken one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.reprocess.checkpoint.files import Edit
from headgate.reprocess.checkpoint.find_issues import check_up
from headgate.reprocess.checkpoint.issue import Known
from headgate.reprocess.ports.inspector import Effects, World
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import Step, Was, check_entry_point
from headgate.reprocess.steps.base.verify_stopped import prove_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import beside, swap
from headgate.reprocess.steps.checkpoint.replace import restore_steps

REPAIRED, BROKEN = "repaired", "broken"
_START_ALONE = "and found no record that waits: that it starts is proven, not that it does a batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairCopy(StepBase):
    """Copy the checkpoint and make the edits in the copy; the original is only read.

    `logs` is the digest of the logs that the edits were found for.
    """

    action: ClassVar[str] = "repair_copy"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    edits: tuple[Edit, ...]
    logs: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        what = ", ".join(edit.describe() for edit in self.edits)
        return f"copy the checkpoint {self.checkpoint} and repair the copy: {what}"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the query runs (again), or has done something since it was looked at."""
        prove_stopped(world, self.pipeline, checkpoint=self.checkpoint)
        found = world.checkpoint_files(self.checkpoint)
        if found is None or found.digest != self.logs:
            raise StalePlanError(f"the logs of {self.checkpoint} have moved since: plan again")

    def bind(self, effects: Effects) -> Was:
        """Decide where the copy goes, and take the hash of what is copied."""
        copy = beside(self.checkpoint, REPAIRED, effects.run)
        return {"copy": copy, "hash": effects.tree_hash(self.checkpoint)}

    def apply(self, effects: Effects, was: Was) -> None:
        """Copy and edit; what an earlier try left goes first."""
        effects.copy_beside(self.checkpoint, was["copy"], self.edits)

    def verify(self, effects: Effects, was: Was) -> None:
        """Refuse where somebody writes; fail where something is still wrong with the copy."""
        if effects.tree_hash(self.checkpoint) != was["hash"]:
            raise RefusedError(f"{self.checkpoint} changed while it was copied: something writes")
        found = effects.checkpoint_files(was["copy"])
        wrong = check_up(found, Known()) if found else None
        if wrong is None or not wrong.is_sound:
            what = "; ".join(f.what for f in (*wrong.flaws, *wrong.left)) if wrong else "it is gone"
            raise StepError(f"the repaired copy {was['copy']} is not sound: {what}")

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Remove the copy, unless it was put in place, where it is not a copy any more."""
        return (DeleteCopy(checkpoint=self.checkpoint, copy=was["copy"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteCopy(StepBase):
    """Remove a copy that stands beside the checkpoint."""

    action: ClassVar[str] = "delete_copy"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    checkpoint: str
    copy: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"remove the copy {self.copy}"

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether the copy is gone."""
        return not effects.exists(self.copy)

    def apply(self, effects: Effects, was: Was) -> None:
        """Remove it."""
        effects.remove_beside(self.checkpoint, self.copy)

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where it is still there."""
        if effects.exists(self.copy):
            raise StepError(f"{self.copy} is still there")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRepair(StepBase):
    """Let the engine start the registered query on a copy of the repaired copy, for one batch."""

    action: ClassVar[str] = "verify_repair"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    entry_point: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"rehearse {self.entry_point} on the repaired copy: Spark must do a batch there"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where another function is registered by now."""
        check_entry_point(world, self.pipeline, self.entry_point)

    def apply(self, effects: Effects, was: Was) -> None:
        """Rehearse; RefusedError unless Spark does a batch, so that all is taken back."""
        effects.note(f"starting {self.entry_point} on a copy: its output goes nowhere")
        copy = beside(self.checkpoint, REPAIRED, effects.run)
        proof = effects.rehearse(copy, self.entry_point)
        if proof.outcome == "resumes":
            rows = f"and took {proof.rows_in} rows" if proof.rows_in else _START_ALONE
            effects.note(f"Spark resumed there {rows}")
            return
        word = "is refused" if proof.outcome == "refuses" else "did not get through its batch"
        raise RefusedError(
            f"the repair is not proven: {self.entry_point} {word} on the repaired copy: {proof.why}"
        )

    def verify(self, effects: Effects, was: Was) -> None:
        """The rehearsal was the proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRepairedCheckpoint(StepBase):
    """Set the broken checkpoint aside and give the repaired copy its name."""

    action: ClassVar[str] = "swap_repaired_checkpoint"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        return f"move {self.checkpoint} aside and put the repaired copy in its place"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the query runs (again)."""
        prove_stopped(world, self.pipeline, checkpoint=self.checkpoint)

    def bind(self, effects: Effects) -> Was:
        """Decide where the broken one goes; take both hashes."""
        copy = beside(self.checkpoint, REPAIRED, effects.run)
        return {
            "aside": beside(self.checkpoint, BROKEN, effects.run),
            "copy": copy,
            "hash": effects.tree_hash(self.checkpoint),
            "repaired": effects.tree_hash(copy),
        }

    def apply(self, effects: Effects, was: Was) -> None:
        """Rename twice, each unless it was done."""
        swap(effects, self.checkpoint, made=was["copy"], aside=was["aside"])

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where either is not byte for byte what it was."""
        for place, kept in ((was["aside"], was["hash"]), (self.checkpoint, was["repaired"])):
            if effects.tree_hash(place) != kept:
                raise StepError(f"{place} is not what was put there: something writes")

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Put the broken one back, byte for byte."""
        return restore_steps(self.pipeline, self.checkpoint, was)
