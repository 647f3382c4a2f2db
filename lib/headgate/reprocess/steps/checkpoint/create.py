"""Make a checkpoint that begins at given positions, and replace the old one with it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.checkpoint.source_offsets import Beginning, read_beginning
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_entry_point, check_topics
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import CopyRemoval, beside
from headgate.reprocess.steps.checkpoint.source_succession import Take, begin
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap, check_query
from headgate.reprocess.steps.offsets.target import Target, TargetKind, stale_reasons
from headgate.text.numbers import plural

DRAFT = "new"
START_ONLY = (
    "the sources had no unread records, so the rehearsal verified only that the query starts"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCheckpoint(StepBase):
    """Create the new checkpoint beside its final path; its first offsets are read after the stop.

    `checkpoint` is the old one, `place` the final path of the new one. `offsets` is the preview,
    each with `source`, `topic`, `partition`, `from` and `to`; `only` limits what `target` moves.
    """

    action: ClassVar[str] = "create_checkpoint"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"offsets"})
    pipeline: str
    checkpoint: str
    query_id: str
    place: str
    takes: tuple[Take, ...]
    target: Target
    topics: dict[str, dict[str, Any]]
    only: dict[str, list[int]] = field(default_factory=dict)
    offsets: tuple[dict[str, Any], ...] = ()

    def describe(self) -> str:
        location = {
            TargetKind.CURRENT: "the end of the last committed batch",
            TargetKind.BEGINNING: "the earliest available input",
        }.get(self.target.place) or self.target.describe()
        return (
            f"create a checkpoint without state for {plural(len(self.takes), 'source')}, "
            f"starting at {location}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again), or a topic or the checkpoint is not the planned."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)
        if self.topics:
            check_topics(inspector, self.topics)

    def bind(self, applier: Applier) -> PriorState:
        """Find where each source begins now, and decide the new query's id and the draft's name."""
        position = applier.checkpoints.query_position(self.checkpoint)
        if position is None:
            raise RefusedError(
                f"checkpoint {self.checkpoint} not found. Check `checkpoint` in headgate.toml"
            )
        found = begin(self.takes, position, self.target, applier, self.only)
        if found.blockers:
            raise RefusedError(stale_reasons(found.blockers))
        return {
            "draft": beside(self.place, DRAFT, applier.run),
            "query_id": str(uuid.uuid4()),
            "beginnings": [one.document() for one in found.beginnings],
            "offsets": [way.shown() for way in found.ways],
        }

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the draft is whole."""
        return self._differs(applier, was) is None

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write it; what an earlier try left goes first."""
        applier.checkpoints.create(
            was["draft"], self.checkpoint, was["query_id"], beginnings_of(was)
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Read it back and fail where it differs from what was to be written."""
        wrong = self._differs(applier, was)
        if wrong is not None:
            raise StepError(wrong)
        for row in was["offsets"][:20]:
            before = "none" if row["from"] is None else row["from"]
            applier.note(f"{row['topic']}[{row['partition']}]: {before} -> {row['to']}")

    def _differs(self, applier: Applier, was: PriorState) -> str | None:
        return applier.checkpoints.made_otherwise(
            was["draft"], self.checkpoint, was["query_id"], beginnings_of(was)
        )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the new checkpoint, unless the run already uses it."""
        return (DeleteDraft(draft=was["draft"]),)


def beginnings_of(was: PriorState) -> tuple[Beginning, ...]:
    """Return where each source of the new checkpoint begins, as it was journalled."""
    return tuple(read_beginning(one) for one in was["beginnings"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearseNewCheckpoint(StepBase):
    """Start the registered entry point on a copy of the new checkpoint, for one batch.

    `made` says that the new checkpoint is already at its final path, and not a draft beside it.
    """

    action: ClassVar[str] = "rehearse_new_checkpoint"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    place: str
    entry_point: str
    made: bool = False

    def describe(self) -> str:
        return (
            f"rehearse {self.entry_point} on a copy of the new checkpoint: Spark must start the "
            "query, and complete a batch if there are unread records"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where another function is registered by now."""
        check_entry_point(inspector, self.pipeline, self.entry_point)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rehearse; RefusedError unless Spark completes a batch: then the run is rolled back."""
        applier.note(
            f"starting {self.entry_point} on a copy of the checkpoint (output is discarded)"
        )
        at = self.place if self.made else beside(self.place, DRAFT, applier.run)
        proof = applier.checkpoints.rehearse(at, self.entry_point)
        if proof.outcome != "resumes":
            raise RefusedError(
                f"the rehearsal of {self.entry_point} on a copy of the new checkpoint failed: "
                f"{proof.why.rstrip('.')}. Correct the {proof.at_fault}, then run `headgate plan` "
                "again"
            )
        read = f"the query read {plural(proof.rows_in, 'row')}" if proof.rows_in else START_ONLY
        applier.note(f"Spark started the query on the copy: {read}")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the rehearsal was the verification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteDraft(CopyRemoval):
    """Delete a new checkpoint that the run doesn't use."""

    action: ClassVar[str] = "delete_draft"
    draft: str

    @property
    def folder(self) -> str:
        return self.draft

    def describe(self) -> str:
        return f"delete the new checkpoint {self.draft}, unless the run already uses it"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove it; fine if it is gone."""
        applier.checkpoints.delete_draft(self.draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapNewCheckpoint(CheckpointSwap):
    """Move the old checkpoint to backup and replace it with the new checkpoint.

    `word` is what the draft's name has before the run's id.
    """

    action: ClassVar[str] = "swap_new_checkpoint"
    pipeline: str
    checkpoint: str
    query_id: str
    word: str = DRAFT

    def describe(self) -> str:
        return f"move checkpoint {self.checkpoint} to backup and replace it with the new checkpoint"

    def bind_copy(self, applier: Applier) -> PriorState:
        """Name the draft and take its hash; refuse where it is missing."""
        return _bind_draft(applier, CheckpointSwap.bind_copy(self, applier)["copy"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallNewCheckpoint(StepBase):
    """Move the new checkpoint to a separate location; the old checkpoint is unchanged."""

    action: ClassVar[str] = "install_new_checkpoint"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    place: str

    def describe(self) -> str:
        return f"move the new checkpoint to {self.place} (the old checkpoint is unchanged)"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if a checkpoint exists there already."""
        if not again and inspector.checkpoints.read(self.place) is not None:
            raise RefusedError(
                f"a checkpoint already exists at {self.place}. Run `headgate plan` again with "
                "another location in --to"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Take the hash that the folder at the final path must have then."""
        was = _bind_draft(applier, beside(self.place, DRAFT, applier.run))
        if applier.folders.exists(self.place):
            raise RefusedError(
                f"the folder {self.place} already exists. Run `headgate plan` again with a new "
                "location in --to"
            )
        return was

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is there."""
        return applier.folders.tree_hash(self.place) == str(was["made"])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename, unless that was done."""
        if applier.folders.exists(was["copy"]):
            applier.folders.move(was["copy"], self.place)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if something else is there."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"checkpoint {self.place} differs from the new checkpoint that the run moved "
                "there: another process writes to this checkpoint. Stop that process, run "
                f"`headgate undo {applier.run}`, then `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Move the new checkpoint to backup."""
        return (MoveNewCheckpointToBackup(pipeline=self.pipeline, place=self.place),)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveNewCheckpointToBackup(StepBase):
    """Move a new checkpoint at a separate location to backup; nothing is deleted."""

    action: ClassVar[str] = "move_new_checkpoint_to_backup"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = False
    pipeline: str
    place: str

    def describe(self) -> str:
        return f"move the new checkpoint {self.place} to backup"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs."""
        check_stopped(inspector, self.pipeline, checkpoint=self.place)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where it goes."""
        return {"aside": beside(self.place, "after", applier.run)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is gone from its path."""
        return not applier.folders.exists(self.place)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename, unless that was done."""
        if applier.folders.exists(self.place):
            applier.folders.move(self.place, was["aside"])

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if it is still there."""
        if applier.folders.exists(self.place):
            raise StepError(
                f"checkpoint {self.place} was recreated: another process writes to the checkpoint. "
                "Stop that process, move the recreated folder away, then resume the run"
            )


def _bind_draft(applier: Applier, draft: str) -> PriorState:
    """Return a draft's name as `copy` and its hash as `made`; refuse where it is missing."""
    made = applier.folders.tree_hash(draft)
    if made is None:
        raise RefusedError(
            f"the new checkpoint {draft} no longer exists. Run `headgate plan` again"
        )
    return {"copy": draft, "made": made}
