"""End a query's batch before a record, and start the next one after it.

Both are done in copies of the checkpoint that replace it. The entry of a batch in the offset log is
where it ends and where the next one begins. The entry of an uncommitted batch is the range that
Spark reprocesses, the entry of a committed one is only the next one's beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.reprocess.checkpoint.files import Edit
from headgate.reprocess.checkpoint.offset_cut import end_in, with_end
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.repair import DeleteCopy
from headgate.reprocess.steps.checkpoint.rewind import REWOUND, check_whole
from headgate.reprocess.steps.checkpoint.spark_metadata import CutSinkLog
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap, check_query

_EARLIER = "rewind to an earlier batch with `headgate plan rewind`"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCopy(StepBase):
    """Copy the checkpoint; in the copy, change the offset at which a batch ends or starts.

    `entry` is the batch whose entry of the offset log says `end` for `topic` and `partition`:
    `batch` itself, whose next one then begins there, or the one after it, which is to be done up
    to there. `edit` is that entry. `logs` is the digest of the logs that it was made for, None if
    the step follows another cut. State that tries of a later batch left isn't copied.

    A query that doesn't fail on the record after all reads on while the batch before it is done.
    So a cut that follows another one is bound to where the query is then: `from` is its offset, and
    from `end` on there is nothing left to skip, and no copy.
    """

    action: ClassVar[str] = "cut_copy"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    batch: int
    entry: int
    topic: str
    partition: int
    end: int
    edit: Edit
    logs: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether the copy is for a batch that is not done yet."""
        return self.entry > self.batch

    def describe(self) -> str:
        what = (
            f"batch {self.entry} ends"
            if self.is_part
            else f"the batch after batch {self.batch} starts"
        )
        location = f"at offset {self.end} of {self.topic}[{self.partition}]"
        return (
            f"copy checkpoint {self.checkpoint} (state as hard links) and edit the copy: {what} "
            f"{location}"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, or its logs or its state are not the planned ones."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        found = check_query(inspector, self.checkpoint, self.query_id)
        last = found.last_commit_batch
        if last is None or last < self.batch or (self.logs is not None and last > self.batch):
            raise StalePlanError(
                f"the last committed batch of checkpoint {self.checkpoint} is no longer "
                f"{self.batch}: {'the checkpoint has none' if last is None else f'it is {last}'}. "
                "Run `headgate plan` again"
            )
        if self.logs is not None:
            files = inspector.checkpoints.files(self.checkpoint)
            if files is None or files.digest != self.logs:
                raise StalePlanError(
                    f"the logs of checkpoint {self.checkpoint} have changed since the plan was "
                    "made. Run `headgate plan` again"
                )
        check_whole(inspector, self.checkpoint, last, other=_EARLIER)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes, and after another cut what the query has read since."""
        copy = beside(self.checkpoint, REWOUND, applier.run)
        return {"copy": copy} | (self._since(applier) if self.logs is None else {})

    def _since(self, applier: Applier) -> PriorState:
        """Return the batch that the query is at, its offset, and the entry that is to be there."""
        files = applier.checkpoints.files(self.checkpoint)
        last = files.last_commit if files else None
        log = files.offsets(last) if files and last is not None else None
        at = end_in(log, self.topic, self.partition) if log else None
        if files is None or at is None:
            raise RefusedError(
                f"Headgate no longer finds an offset of {self.topic}[{self.partition}] in "
                f"`offsets/{last}` of checkpoint {self.checkpoint}. Run `headgate plan` again"
            )
        text = files.files[f"offsets/{last}"].decode()
        moved = with_end(text, self.topic, self.partition, self.end)
        return {"batch": last, "from": at, "text": moved}

    def _last(self, was: PriorState) -> int:
        """Return the batch that the copy is of: the planned one, or the one that was bound."""
        return int(was.get("batch", self.batch))

    def is_read(self, was: PriorState) -> bool:
        """Whether the query has read the whole range by itself."""
        return int(was.get("from", -1)) >= self.end

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy and edit; what an earlier try left goes first."""
        if said := self.said(was):
            applier.note(said)
        if self.is_read(was):
            return
        batch = self._last(was)
        edit = entry_edit(batch, was["text"]) if "text" in was else self.edit
        applier.checkpoints.copy_to_batch(self.checkpoint, batch, was["copy"])
        applier.checkpoints.edit_copy(self.checkpoint, was["copy"], (edit,))

    def said(self, was: PriorState) -> str | None:
        """Return a sentence where the query did not fail as expected, None where it did."""
        if (last := self._last(was)) == self.batch:
            return None
        location = f"{self.topic}[{self.partition}]"
        how = f"{self.pipeline} continued to batch {last}, up to offset {was['from']} of {location}"
        if self.is_read(was):
            return (
                f"{how}. The query has processed all records to skip without an error, so the "
                "run skips nothing"
            )
        return f"{how}. Of the records to skip, the run skips only those from this offset on"

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the copy does not say the end, or lacks a file of its state."""
        if self.is_read(was):
            return
        found = applier.checkpoints.read(was["copy"])
        at = found.offsets.get(self.topic, {}).get(self.partition) if found else None
        if at != self.end:
            location = f"{self.topic}[{self.partition}]"
            raise StepError(
                f"the copy {was['copy']} has {'no offset' if at is None else f'offset {at}'} for "
                f"{location}, not offset {self.end}. Resume the run to copy the checkpoint again"
            )
        check_whole(applier, was["copy"], self._last(was), other=_EARLIER)

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy, unless the run already uses it."""
        if self.is_read(was):
            return ()
        return (DeleteCopy(checkpoint=self.checkpoint, copy=was["copy"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapCutCheckpoint(CheckpointSwap):
    """Move the checkpoint to backup and replace it with the copy that has the changed offset.

    `first` says that the query's own checkpoint is moved to backup, and not one that was cut
    before; of a second one `topic`, `partition` and `end` say where it begins. There is no second
    copy if the query has read up to there by itself.

    `sink` is the folder of a file sink. An undo removes what its log has of batches after `batch`:
    otherwise the sink would drop the output of the reprocessed batches.
    """

    action: ClassVar[str] = "swap_cut_checkpoint"
    pipeline: str
    checkpoint: str
    query_id: str
    batch: int
    first: bool = True
    sink: str | None = None
    topic: str = ""
    partition: int = 0
    end: int = 0

    @property
    def word(self) -> str:
        return REWOUND

    @property
    def backup_word(self) -> str:
        return "before" if self.first else "before-cut"

    def describe(self) -> str:
        return f"move checkpoint {self.checkpoint} to backup and replace it with the copy"

    def bind_copy(self, applier: Applier) -> PriorState:
        """Name the copy, and of a second one the batch that it ends at; None: there is none."""
        was = CheckpointSwap.bind_copy(self, applier)
        if self.first:
            return was
        made = (
            applier.checkpoints.read(was["copy"]) if applier.folders.exists(was["copy"]) else None
        )
        return {**was, "batch": made.last_commit_batch if made else None}

    def _last(self, was: PriorState) -> int | None:
        """Return the batch that the copy ends at, None where there is no copy to put in place."""
        batch: int | None = was.get("batch", self.batch)
        return batch

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Rename both, unless that was done, or there is nothing to put in place."""
        if self._last(was) is not None:
            CheckpointSwap.apply(self, applier, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail as any swap, or where the query has not read as far as the copy would begin."""
        if self._last(was) is not None:
            CheckpointSwap.verify(self, applier, was)
            return
        found = applier.checkpoints.read(self.checkpoint)
        at = found.offsets.get(self.topic, {}).get(self.partition) if found else None
        if at is None or at < self.end:
            raise StepError(
                f"the copy {was['copy']} no longer exists, so checkpoint {self.checkpoint} was not "
                f"replaced. Run `headgate undo {applier.run}`, then `headgate plan` again"
            )

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail where it does not end at the batch of the copy."""
        found, batch = applier.checkpoints.read(self.checkpoint), self._last(was)
        if found is None or found.last_commit_batch != batch:
            raise StepError(
                f"checkpoint {self.checkpoint} doesn't end at batch {batch} after the swap: "
                "another process writes to the checkpoint. Stop that process, then run `headgate "
                f"undo {applier.run}`"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the original checkpoint."""
        if not self.first:
            return ()
        back = CheckpointSwap.undo(self, was)
        if self.sink is None:
            return back
        return (CutSinkLog(pipeline=self.pipeline, target=self.sink, batch=self.batch), *back)


def entry_edit(entry: int, text: str) -> Edit:
    """Return the edit that writes an entry of the offset log."""
    return Edit(path=f"offsets/{entry}", text=text)
