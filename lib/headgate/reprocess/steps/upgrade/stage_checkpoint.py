"""Copy the checkpoint of a running query, and later replace it with the copy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.model.restore_points import LoggedBatch
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.repair import DeleteCopy
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap, check_query

STAGED, SWITCHED = "staged", "switched"
# How long a moment between two batches is waited for, and how often it is looked for.
BETWEEN_SECONDS, _POLL = 120.0, 0.1
_TRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCheckpoint(StepBase):
    """Copy the checkpoint at the end of a batch, while the query runs.

    The end offsets of the output `topic` at that moment go into the run's folder: later records
    are results of later batches.
    """

    action: ClassVar[str] = "stage_checkpoint"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    topic: str

    def describe(self) -> str:
        return (
            f"copy checkpoint {self.checkpoint} at the end of a batch, while {self.pipeline} runs"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the checkpoint is another query's."""
        check_query(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes."""
        return {"copy": beside(self.checkpoint, STAGED, applier.run)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy; what an earlier try left goes first."""
        for _ in range(_TRIES):
            batch, ends = between_batches(applier, self.checkpoint, self.topic)
            copied = applier.checkpoints.copy_newest(self.checkpoint, was["copy"])
            if copied == batch:
                break
        else:
            raise StepError(
                f"batches of {self.pipeline} end faster than Headgate copies its checkpoint. "
                "Use a longer trigger interval, then resume the run"
            )
        at = newest_ends(applier, was["copy"])
        found = {"batch": batch, "offsets": at, "output": ends}
        write_record(applier, STAGED, found)
        applier.note(f"the copy ends at batch {batch}")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where the copy is missing or does not end at that batch."""
        found = applier.checkpoints.read(was["copy"])
        staged = read_record(applier, STAGED)
        if found is None or staged is None or found.last_commit_batch != staged["batch"]:
            raise StepError(f"the copy {was['copy']} is incomplete. Resume the run to copy again")

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy."""
        return (DeleteCopy(checkpoint=self.checkpoint, copy=was["copy"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapStagedCheckpoint(CheckpointSwap):
    """Move the old version's checkpoint to backup, and install the new version's checkpoint."""

    action: ClassVar[str] = "swap_staged_checkpoint"
    pipeline: str
    checkpoint: str
    query_id: str

    @property
    def word(self) -> str:
        return STAGED

    def describe(self) -> str:
        return (
            f"replace checkpoint {self.checkpoint} with the new version's checkpoint at the same "
            "offsets, and move the old checkpoint to backup"
        )

    def bind_copy(self, applier: Applier) -> PriorState:
        """Name the copy, and what it is known by."""
        was = CheckpointSwap.bind_copy(self, applier)
        found = applier.checkpoints.read(was["copy"])
        return {**was, "made": list(found.head) if found else None}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write the copy's final path into its metadata, then move.

        RefusedError if the old version has run on since: its last results would be written twice.
        """
        if not applier.folders.exists(was["aside"]) and applier.folders.exists(was["copy"]):
            copied = batch_facts(applier.checkpoints.batches(was["copy"]))
            if differs(applier, self.checkpoint, copied):
                raise RefusedError(
                    f"{self.pipeline} was restarted: it has processed batches after batch "
                    f"{copied.get('batch')}, the new version's last batch. Stop the process that "
                    f"restarts {self.pipeline}, then run `headgate plan` again"
                )
        if applier.folders.exists(was["copy"]):
            applier.checkpoints.move_schemas(was["copy"], self.checkpoint)
        CheckpointSwap.apply(self, applier, was)
        write_record(applier, SWITCHED, {"batch": was["made"][1]})

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail where what is in place is not the copy."""
        found = applier.checkpoints.read(self.checkpoint)
        if found is None or found.query_id != self.query_id or list(found.head) != was["made"]:
            raise StepError(
                f"checkpoint {self.checkpoint} differs from the copy that replaced it: another "
                "process writes to the checkpoint. Stop that process, run `headgate undo "
                f"{applier.run}`, then `headgate plan` again"
            )


def between_batches(applier: Applier, checkpoint: str, topic: str) -> tuple[int, dict[str, int]]:
    """Wait for a moment between two batches; return the last batch and the topic's end offsets.

    A batch writes only after it is in the offset log: if both logs end at one batch before and
    after the question, all records in the topic are of that batch and earlier ones.
    """
    wait = Wait(applier=applier, poll=_POLL)
    while True:
        before = applier.checkpoints.read(checkpoint)
        if before is not None and _is_idle(before.head):
            found = applier.kafka.topics([topic])[topic]
            now = applier.checkpoints.read(checkpoint)
            if now is not None and now.head == before.head and before.last_commit_batch is not None:
                return before.last_commit_batch, {
                    str(p.number): p.end for p in found.partitions if p.end is not None
                }
        if wait.seconds >= BETWEEN_SECONDS:
            raise RefusedError(
                f"within {wait.seconds:.0f} s, Headgate found no pause between two batches in "
                f"checkpoint {checkpoint}, so it can't separate their results. Use a longer "
                "trigger interval, then run `headgate plan` again"
            )
        wait.pause()


def _is_idle(head: tuple[int | None, int | None]) -> bool:
    return head[0] is not None and head[0] == head[1]


def newest_ends(inspector: Inspector, checkpoint: str) -> dict[str, dict[str, int]]:
    """Return where the newest committed batch ends, by topic and partition."""
    ends = batch_ends(inspector.checkpoints.batches(checkpoint))
    return ends[-1] if ends else {}


def batch_ends(batches: Sequence[LoggedBatch]) -> list[dict[str, dict[str, int]]]:
    """Return where each batch ends, oldest first, as JSON values; a no-data batch repeats an end.

    A source without new data may not be logged: its last offsets are carried on.
    """
    found: list[dict[str, dict[str, int]]] = []
    at: dict[str, dict[str, int]] = {}
    for batch in batches:
        at = {topic: dict(parts) for topic, parts in at.items()}
        for topic, parts in batch.offsets.items():
            at.setdefault(topic, {}).update({str(p): o for p, o in parts.items()})
        found.append(at)
    return found


def batch_facts(batches: Sequence[LoggedBatch]) -> dict[str, Any]:
    """Return the number of the last batch, where it ends, and the watermarks after and before it.

    These are in milliseconds since 1970. The one before a batch decides which results it writes,
    the one after it which results the next batch writes.
    """
    if not batches:
        return {}
    return {
        "batch": batches[-1].number,
        "end": batch_ends(batches)[-1],
        "watermarks": [b.watermark_ms or 0 for b in reversed(batches[-2:])],
    }


def differs(inspector: Inspector, checkpoint: str, facts: Mapping[str, Any]) -> bool:
    """Return whether a checkpoint's last batch isn't the one that `batch_facts` has described."""
    now = batch_facts(inspector.checkpoints.batches(checkpoint))
    return any(now.get(name) != facts.get(name) for name in ("batch", "end"))


def write_record(applier: Applier, name: str, found: Any) -> None:
    """Keep what a later step of the run reads."""
    applier.folders.write_record(_record(applier, name), json.dumps(found))


def read_record(applier: Applier, name: str) -> dict[str, Any] | None:
    """Return what an earlier step of the run kept, None if it kept nothing."""
    text = applier.folders.read_record(_record(applier, name))
    return json.loads(text) if text is not None else None


def _record(applier: Applier, name: str) -> str:
    return f"{applier.folders.snapshot_folder()}/{name}.json"
