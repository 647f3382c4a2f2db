"""Spread the state of a query over other partitions, or write it out for a new version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.checkpoints import said_batches
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.create import DeleteDraft
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.text.numbers import plural

REPARTITIONED, EXPORT = "repartitioned", "export"
PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepartitionState(StepBase):
    """Copy the checkpoint and let Spark repartition the state of the copy."""

    action: ClassVar[str] = "repartition_state"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    partitions: int
    was_partitions: int | None = None

    def describe(self) -> str:
        was = f" (now {self.was_partitions})" if self.was_partitions else ""
        return (
            "copy the checkpoint, repartition the state of the copy to "
            f"{plural(self.partitions, 'partition')}{was}, and compare both states row by row"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, the checkpoint is another's, or its last batch is open."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        found = check_query(inspector, self.checkpoint, self.query_id)
        if found.last_offset_batch != found.last_commit_batch:
            raise RefusedError(
                f"batch {found.last_offset_batch} of checkpoint {self.checkpoint} is uncommitted. "
                "Let the query complete this batch, then run `headgate plan` again"
            )

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy and its record go, and take the hash of what is copied."""
        return {
            "draft": beside(self.checkpoint, REPARTITIONED, applier.run),
            "hash": applier.folders.tree_hash(self.checkpoint),
            "record": str(PurePosixPath(applier.folders.snapshot_folder()) / "repartitioned.json"),
        }

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy and let Spark work; what an earlier try left goes first."""
        to = plural(self.partitions, "partition")
        applier.note(f"Spark repartitions the state of a copy to {to}")
        stores = applier.state.repartition(self.checkpoint, was["draft"], self.partitions)
        for store in stores:
            applier.note(
                f"operator {store.operator}, store {store.store}: "
                f"{plural(store.rows or 0, 'row')}, all equal in both states"
            )
        rows = [{"operator": s.operator, "store": s.store, "rows": s.rows} for s in stores]
        text = json.dumps({"partitions": self.partitions, "stores": rows}, indent=1) + "\n"
        applier.folders.write_record(was["record"], text)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse where somebody wrote meanwhile; fail where the copy has not one batch more."""
        if applier.folders.tree_hash(self.checkpoint) != was["hash"]:
            raise RefusedError(
                f"checkpoint {self.checkpoint} changed during the copy: another process still "
                "writes to the checkpoint. Stop that process, then run `headgate plan` again"
            )
        old, new = applier.checkpoints.read(self.checkpoint), applier.checkpoints.read(was["draft"])
        if old is None or new is None or old.last_commit_batch is None:
            raise StepError(
                f"the repartitioned copy {was['draft']} no longer exists. Resume the run to create "
                "it again"
            )
        end = old.last_commit_batch + 1
        position = applier.checkpoints.query_position(was["draft"])
        pinned = position.pinned.get(PARTITIONS) if position else None
        if new.head != (end, end) or pinned != str(self.partitions):
            raise StepError(
                f"the repartitioned copy {was['draft']} is incomplete. Expected: batch {end} in "
                f"both logs, {plural(self.partitions, 'partition')}. Found: {said_batches(new)}, "
                f"{f'{PARTITIONS}={pinned}' if pinned else f'no {PARTITIONS}'}. Run `headgate undo "
                f"{applier.run}`, then `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy, unless the run already uses it."""
        return (DeleteDraft(draft=was["draft"]),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportState(StepBase):
    """Export the old version's state to a folder, as initial state of the new version."""

    action: ClassVar[str] = "export_state"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    folder: str

    def describe(self) -> str:
        return f"write the state of the last committed batch to {self.folder} as Parquet"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs (again) or the checkpoint is not the planned query's."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)

    def bind(self, applier: Applier) -> PriorState:
        """Decide where it is built; refuse a folder that is there already."""
        if applier.folders.exists(self.folder):
            raise RefusedError(
                f"the export folder {self.folder} already exists. Run `headgate plan` again with "
                "another folder in --export-state"
            )
        return {"draft": beside(self.folder, EXPORT, applier.run)}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is there: it gets its name only when it is whole."""
        return applier.folders.exists(self.folder) and not applier.folders.exists(was["draft"])

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Let Spark read and write, then rename; what an earlier try left goes first."""
        manifest = applier.state.export(self.checkpoint, was["draft"])
        applier.folders.move(was["draft"], self.folder)
        for one in manifest["operators"]:
            columns = ", ".join(one["columns"])
            applier.note(
                f"{self.folder}/{one['folder']}: {plural(one['rows'], 'row')} with columns "
                f"{columns}"
            )
            if left := one.get("timers_left"):
                applier.note(
                    f"timers that are not exported: {left}. handleInitialState of the new version "
                    "must register them again"
                )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where it is not there."""
        if not self.is_applied(applier, was):
            raise StepError(
                f"the exported state {self.folder} no longer exists. Resume the run to export it "
                "again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete an incomplete export; a complete export is kept."""
        return (DeleteDraft(draft=was["draft"]),)
