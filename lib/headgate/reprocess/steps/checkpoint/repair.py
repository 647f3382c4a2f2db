"""Repair a copy of a checkpoint, verify it, and replace the broken one with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.reprocess.checkpoint.files import Edit
from headgate.reprocess.checkpoint.find_issues import check_checkpoint
from headgate.reprocess.checkpoint.issue import Known
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_entry_point
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import CopyRemoval, beside
from headgate.reprocess.steps.checkpoint.create import START_ONLY
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap
from headgate.text.numbers import plural

REPAIRED = "repaired"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairCopy(StepBase):
    """Copy the checkpoint and repair the copy; the original is only read.

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
        what = ", ".join(edit.describe() for edit in self.edits)
        return f"copy checkpoint {self.checkpoint} and repair the copy: {what}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if the query runs (again), or has done something since the plan checked it."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        found = inspector.checkpoints.files(self.checkpoint)
        if found is None or found.digest != self.logs:
            raise StalePlanError(
                f"the logs of checkpoint {self.checkpoint} have changed since the plan was made. "
                "Run `headgate plan` again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes, and take the hash of what is copied."""
        copy = beside(self.checkpoint, REPAIRED, applier.run)
        return {"copy": copy, "hash": applier.folders.tree_hash(self.checkpoint)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy and edit; what an earlier try left goes first."""
        applier.checkpoints.copy_beside(self.checkpoint, was["copy"], self.edits)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where somebody writes; fail where something is still wrong with the copy."""
        if applier.folders.tree_hash(self.checkpoint) != was["hash"]:
            raise RefusedError(
                f"checkpoint {self.checkpoint} changed during the copy: another process still "
                "writes to the checkpoint. Stop that process, then run `headgate plan` again"
            )
        found = applier.checkpoints.files(was["copy"])
        if found is None:
            raise StepError(
                f"the repaired copy {was['copy']} no longer exists. Resume the run to copy the "
                "checkpoint again"
            )
        wrong = check_checkpoint(found, Known())
        if not wrong.is_sound:
            what = "; ".join(f.what for f in (*wrong.issues, *wrong.left))
            raise StepError(
                f"the repaired copy {was['copy']} still has faults: {what}. Run `headgate undo "
                f"{applier.run}`, then `headgate plan repair` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy, unless the run already uses it."""
        return (DeleteCopy(checkpoint=self.checkpoint, copy=was["copy"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteCopy(CopyRemoval):
    """Delete a copy beside the checkpoint."""

    action: ClassVar[str] = "delete_copy"
    checkpoint: str
    copy: str

    @property
    def folder(self) -> str:
        return self.copy

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove it."""
        applier.checkpoints.remove_beside(self.checkpoint, self.copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRepair(StepBase):
    """Start the registered entry point on a copy of the repaired checkpoint, for one batch."""

    action: ClassVar[str] = "verify_repair"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    entry_point: str

    def describe(self) -> str:
        return (
            f"rehearse {self.entry_point} on the repaired copy: Spark must start the query, and "
            "complete a batch if there are unread records"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where another function is registered by now."""
        check_entry_point(inspector, self.pipeline, self.entry_point)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rehearse; RefusedError unless Spark completes a batch: then the run is rolled back."""
        applier.note(
            f"starting {self.entry_point} on a copy of the checkpoint (output is discarded)"
        )
        copy = beside(self.checkpoint, REPAIRED, applier.run)
        proof = applier.checkpoints.rehearse(copy, self.entry_point)
        if proof.outcome == "resumes":
            said = f"the query read {plural(proof.rows_in, 'row')}" if proof.rows_in else START_ONLY
            applier.note(f"Spark resumed on the copy: {said}")
            return
        word = "does not start" if proof.outcome == "refuses" else "did not complete its batch"
        raise RefusedError(
            f"the repair is not verified: {self.entry_point} {word} on the repaired copy: "
            f"{proof.why.rstrip('.')}. Correct the {proof.at_fault}, then run `headgate plan "
            "repair` again"
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the rehearsal was the verification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRepairedCheckpoint(CheckpointSwap):
    """Move the broken checkpoint to backup and replace it with the repaired copy."""

    action: ClassVar[str] = "swap_repaired_checkpoint"
    pipeline: str
    checkpoint: str

    @property
    def word(self) -> str:
        return REPAIRED

    @property
    def backup_word(self) -> str:
        return "broken"

    def describe(self) -> str:
        return f"move checkpoint {self.checkpoint} to backup and replace it with the repaired copy"

    def check_old(self, inspector: Inspector) -> None:
        """Nothing to refuse.

        A broken checkpoint may have no id that says whose it is, and reading it fails then. The
        digest of its logs, which RepairCopy compares, says that it is the planned one, and the plan
        says whether its folder can be moved.
        """

    def bind_copy(self, applier: Applier) -> PriorState:
        """Name the copy and take its hash."""
        was = CheckpointSwap.bind_copy(self, applier)
        return {**was, "made": applier.folders.tree_hash(was["copy"])}
