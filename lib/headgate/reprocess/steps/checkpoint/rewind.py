"""Make a checkpoint that ends at an older batch, verify its state, swap it in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, uuid5

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.checkpoints import said_batches
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.repair import DeleteCopy
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap, check_query
from headgate.text.numbers import plural, size

REWOUND = "rewound"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyToBatch(StepBase):
    """Copy the checkpoint up to the end of a batch: offset, commit and source logs, and state.

    `planned_at`, `committed_at` and `watermark` are times in ISO 8601. `offsets` is the preview,
    each partition with `topic`, `partition`, `from` and `to`. `last` is the batch that the query is
    at, `input_files` how many files are reprocessed. `new_query_id` says that the copy gets an id
    of its own. `point` is the id of the restore point that is copied instead of the checkpoint, and
    `point_location` where it is.
    """

    action: ClassVar[str] = "copy_to_batch"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset(
        {"files", "bytes", "committed_at", "offsets", "last", "input_files"}
    )
    pipeline: str
    checkpoint: str
    query_id: str
    batch: int
    planned_at: str | None = None
    committed_at: str | None = None
    watermark: str | None = None
    last: int | None = None
    input_files: int = 0
    offsets: tuple[dict[str, Any], ...] = ()
    new_query_id: bool = False
    files: int = 0
    bytes: int = 0
    point: str | None = None
    point_location: str | None = None

    def describe(self) -> str:
        facts = {
            "planned": self.planned_at,
            "committed": self.committed_at,
            "watermark": self.watermark,
        }
        at = ", ".join(f"{word} {time}" for word, time in facts.items() if time)
        new = " with a new query id" if self.new_query_id else ""
        what = f"restore point {self.point}" if self.point else f"checkpoint {self.checkpoint}"
        return (
            f"copy {what}{new} up to the end of batch {self.batch}{f' ({at})' if at else ''}: "
            f"{size(self.bytes)}, state as hard links{self._again()}"
        )

    def _again(self) -> str:
        if self.last is None or self.last <= self.batch:
            return ""
        of = f" ({plural(self.input_files, 'file')})" if self.input_files else ""
        batches = plural(self.last - self.batch, "later batch")
        return f". The query then reprocesses the input of {batches}{of}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, or something of the batch was cleaned up meanwhile."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)
        check_whole(inspector, self.checkpoint, self.batch, self.point_location)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes; a new query id follows from the run's."""
        made = str(uuid5(NAMESPACE_URL, applier.run)) if self.new_query_id else None
        return {"copy": beside(self.checkpoint, REWOUND, applier.run), "query_id": made}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy; what an earlier try left goes first."""
        applier.checkpoints.copy_to_batch(
            self.checkpoint,
            self.batch,
            was["copy"],
            query_id=was.get("query_id"),
            point=self.point_location,
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the copy does not end at the batch or lacks a file of its state."""
        check_end(applier, was["copy"], self.batch)
        check_whole(applier, was["copy"], self.batch)

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy, unless the run already uses it."""
        return (DeleteCopy(checkpoint=self.checkpoint, copy=was["copy"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadState(StepBase):
    """Read the whole state of the copy with Spark's state reader, before the swap.

    Meanwhile nothing may change in the checkpoint: a session that outlives its query writes
    snapshots of the old state, and would write them into what replaces the checkpoint.
    `point_location` is the restore point that was copied. The copy has its files as links, but
    names schema files by their final path, so the point itself is read.
    """

    action: ClassVar[str] = "read_state"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    checkpoint: str
    batch: int
    point_location: str | None = None

    def describe(self) -> str:
        return f"read the state at batch {self.batch} with Spark's own state reader"

    def bind(self, applier: Applier) -> PriorState:
        """Remember which copy is read, and what the original is."""
        return {
            "copy": beside(self.checkpoint, REWOUND, applier.run),
            "hash": applier.folders.tree_hash(self.checkpoint),
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Read it; nothing is changed."""
        for store in applier.state.read(self.point_location or was["copy"], self.batch):
            rows = (
                "unknown (Spark's state reader can't read this format)"
                if store.rows is None
                else store.rows
            )
            applier.note(
                f"rows in the state of operator {store.operator}, store {store.store}: {rows}"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where something wrote to the original while the copy was read."""
        if applier.folders.tree_hash(self.checkpoint) != was["hash"]:
            raise RefusedError(
                f"checkpoint {self.checkpoint} changed while Headgate read its copy: the Spark "
                "session of the stopped query probably still runs and writes to the checkpoint. "
                "Stop the whole Spark application, then run `headgate plan` again"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapCheckpoint(CheckpointSwap):
    """Move the checkpoint to backup and replace it with the copy.

    `word` is what the copy's name has before the run's id.
    """

    action: ClassVar[str] = "swap_checkpoint"
    pipeline: str
    checkpoint: str
    query_id: str
    batch: int
    word: str = REWOUND

    def describe(self) -> str:
        return f"move checkpoint {self.checkpoint} to backup and replace it with the copy"

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail where it does not end at the batch."""
        check_end(applier, self.checkpoint, self.batch)


def check_whole(
    inspector: Inspector,
    location: str,
    batch: int,
    point: str | None = None,
    *,
    other: str = "choose another batch with --batch",
) -> None:
    """Raise RefusedError if files are missing that the end of the batch needs.

    `other` is what else to do, as the end of a sentence.
    """
    found = inspector.checkpoints.rewind(location, batch, point)
    if found.missing:
        raise RefusedError(
            f"checkpoint {point or location} can't be rewound to batch {batch}: "
            f"{found.missing[0]}. Restore the missing files, or {other}"
        )
    if found.lost_inputs:
        raise RefusedError(
            f"the input file {found.lost_inputs[0]} of batches after batch {batch} no longer "
            f"exists, so the query can't reprocess the file. Restore the file, or {other}"
        )


def check_end(applier: Applier, location: str, batch: int) -> None:
    """Fail where the logs of a checkpoint do not both end at the batch."""
    found = applier.checkpoints.read(location)
    if found is None:
        raise StepError(
            f"checkpoint {location} should end at batch {batch}, but Headgate can't read its "
            "offset log and commit log: another process probably deleted or replaced these logs. "
            f"Stop that process, then run `headgate undo {applier.run}`"
        )
    if found.head != (batch, batch):
        raise StepError(
            f"checkpoint {location} should end at batch {batch}, but has {said_batches(found)}: "
            "another process probably writes to the checkpoint. Stop that process, then run "
            f"`headgate undo {applier.run}`"
        )
