"""Make a checkpoint at a new location of a remote file system; the old one is only read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, uuid5

from headgate.errors import StalePlanError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.create import CreateCheckpoint, beginnings_of
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.text.numbers import plural, size


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRemoteCheckpoint(StepBase):
    """Copy the checkpoint to a new location, completely or up to the end of a batch.

    `bytes` and `files` are those of the whole checkpoint. `at` says when the batch was. `offsets`
    is the preview, each partition with `topic`, `partition`, `from` and `to`. `new_query_id` says
    that the copy gets an id of its own. `point` is the id of the restore point that is copied
    instead of the checkpoint, and `point_location` where it is.
    """

    action: ClassVar[str] = "copy_remote_checkpoint"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"bytes", "files", "offsets", "at"})
    pipeline: str
    checkpoint: str
    query_id: str
    place: str
    batch: int | None = None
    new_query_id: bool = False
    at: str | None = None
    offsets: tuple[dict[str, Any], ...] = ()
    bytes: int | None = None
    files: int | None = None
    point: str | None = None
    point_location: str | None = None

    @property
    def source(self) -> str:
        """What is copied."""
        return self.point_location or self.checkpoint

    def describe(self) -> str:
        end = "" if self.batch is None else f", up to the end of batch {self.batch}"
        at = f" ({self.at})" if self.at else ""
        new = " with a new query id" if self.new_query_id else ""
        much = (
            f": {size(self.bytes)} in {plural(self.files or 0, 'file')}"
            if self.bytes is not None
            else ""
        )
        what = f"restore point {self.point}" if self.point else f"the checkpoint {self.checkpoint}"
        return f"copy {what} to {self.place}{new}{end}{at}{much}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse if the query runs (again), or the new location is taken."""
        check_stopped(inspector, self.pipeline, checkpoint=self.checkpoint)
        check_query(inspector, self.checkpoint, self.query_id)
        if not again:
            check_free(inspector, self.place)

    def bind(self, applier: Applier) -> PriorState:
        """Take the listing that the old location must keep; the run's id gives a new query id."""
        made = str(uuid5(NAMESPACE_URL, applier.run)) if self.new_query_id else None
        return {"hash": applier.remote_checkpoints.listing_hash(self.source), "query_id": made}

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the copy is whole, as its manifest says."""
        return applier.remote_checkpoints.issue(self.place) is None

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy what is not copied yet."""
        applier.remote_checkpoints.copy(
            self.source,
            self.place,
            expected=str(was["hash"]),
            batch=self.batch,
            query_id=was["query_id"],
        )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where a file is not what was to be written."""
        if wrong := applier.remote_checkpoints.issue(self.place):
            raise StepError(wrong)
        found = applier.checkpoints.read(self.place)
        if found is None or (self.batch is not None and found.head != (self.batch, self.batch)):
            end = "has no readable offset log and commit log"
            if self.batch is not None:
                end = f"doesn't end at batch {self.batch}"
            raise StepError(
                f"the copy {self.place} of checkpoint {self.source} {end}: another process "
                "probably writes to the copy. Stop that process, run `headgate undo "
                f"{applier.run}`, then `headgate plan` again"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the copy, unless a query has used it."""
        return (DeleteRemoteCheckpoint(place=self.place, source=self.source),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRemoteCheckpoint(CreateCheckpoint):
    """Create the new checkpoint at a new location; its first offsets are read after the stop."""

    action: ClassVar[str] = "create_remote_checkpoint"

    def describe(self) -> str:
        return f"{CreateCheckpoint.describe(self)}, stored at {self.place}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse as for any new checkpoint, and if the new location is taken."""
        CreateCheckpoint.check(self, inspector, again=again)
        if not again:
            check_free(inspector, self.place)

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it is whole, as its manifest says."""
        return applier.remote_checkpoints.issue(self.place) is None

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Write the checkpoint; it overwrites what an earlier try has written."""
        applier.remote_checkpoints.create(
            self.place, self.checkpoint, was["query_id"], beginnings_of(was)
        )

    def _differs(self, applier: Applier, was: PriorState) -> str | None:
        return applier.remote_checkpoints.issue(self.place)

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Delete the new checkpoint, unless a query has used it."""
        return (DeleteRemoteCheckpoint(place=self.place),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRemoteCheckpoint(StepBase):
    """Delete a checkpoint at a new location, unless a query has used it."""

    action: ClassVar[str] = "delete_remote_checkpoint"
    symbol: ClassVar[str] = "-"
    undoable: ClassVar[bool] = False
    place: str
    source: str | None = None

    def describe(self) -> str:
        return f"delete the checkpoint at {self.place}, unless a query has used it"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Remove it; fine if it is gone."""
        if kept := applier.remote_checkpoints.delete(self.place, self.source):
            applier.note(kept)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """What is kept does no harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRemoteState(StepBase):
    """Read the whole state at the new location with Spark's state reader, before the start.

    Spark reads it here, from a copy that goes away after: it needs as many bytes of disk.
    """

    action: ClassVar[str] = "read_remote_state"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    place: str
    batch: int

    def describe(self) -> str:
        return (
            f"download {self.place} and read its state at batch {self.batch} with Spark's own "
            "state reader"
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Read it; nothing is changed."""
        for store in applier.state.read(self.place, self.batch):
            rows = (
                "unknown (Spark's state reader can't read this format)"
                if store.rows is None
                else store.rows
            )
            applier.note(
                f"rows in the state of operator {store.operator}, store {store.store}: {rows}"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail where something writes there already."""
        if wrong := applier.remote_checkpoints.issue(self.place):
            raise StepError(wrong)


def check_free(inspector: Inspector, place: str) -> None:
    """Refuse if the new location isn't free any more."""
    if not inspector.remote_checkpoints.is_free(place):
        raise StalePlanError(f"the location {place} already exists. Run `headgate plan` again")
