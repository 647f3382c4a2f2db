"""Checkpoints, their logs and their state, as plans see and change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headgate.model.restore_points import LoggedBatch, RestorePoint, Rewind, SnapshotSize, Turn
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.checkpoint.source_offsets import Beginning, QueryPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint as it is now; batches are None if the log is empty.

    `location` has links and relative parts resolved. `offsets` are the newest logged ones of Kafka
    sources by topic and partition. `batch_seconds` is the usual time between two batches, None if
    fewer than two are logged. `busy_seconds` is the longest that one of the last took.
    `quiet_seconds` is how long ago the logs moved, None if the clocks differ. `fixed` says why
    it can't be moved to backup in one step, None if it can. A `remote` one is never changed: a new
    one is made at another location. `history` are the earlier rewinds; of a remote one none is
    recorded.
    """

    location: str
    query_id: str
    last_offset_batch: int | None = None
    last_commit_batch: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    batch_seconds: float | None = None
    busy_seconds: float | None = None
    quiet_seconds: float | None = None
    fixed: str | None = None
    remote: bool = False
    history: tuple[Turn, ...] = ()

    @property
    def head(self) -> tuple[int | None, int | None]:
        """The newest batches of both logs: a query that runs moves them."""
        return self.last_offset_batch, self.last_commit_batch


def said_batches(found: Checkpoint) -> str:
    """Return the newest batches of both logs, for sentences."""
    begun, done = ("none" if batch is None else f"batch {batch}" for batch in found.head)
    return f"{begun} in the offset log, {done} in the commit log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the engine did on a copy: `resumes`, `refuses` or `unknown`; `rows_in` it took there."""

    outcome: str
    error_class: str | None = None
    message: str | None = None
    rows_in: int | None = None

    @property
    def why(self) -> str:
        """Why it did not resume: error class and message, as far as there are any."""
        return ": ".join(filter(None, (self.error_class, self.message))) or "Spark gave no reason"

    @property
    def at_fault(self) -> str:
        """What to correct: the query, if Spark refused it; else the cause may be elsewhere."""
        return "query" if self.outcome == "refuses" else "cause"


class CheckpointInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def read(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""

    def files(self, location: str, sink: str | None = None) -> CheckpointFiles | None:
        """Return the small files of a local checkpoint, also of a broken one; None without one.

        `sink` is the folder of a file sink, whose log says which batches it has.
        """

    def query_position(self, location: str) -> QueryPosition | None:
        """Return where a query's sources are after its newest committed batch.

        None where there is no checkpoint; EvidenceError where its logs are broken.
        """

    def place(self, location: str) -> str:
        """Return a checkpoint's location with links and relative parts resolved."""

    def batches(self, location: str) -> tuple[LoggedBatch, ...]:
        """Return the batches that both logs of a checkpoint hold, oldest first."""

    def rewind(self, location: str, batch: int, point: str | None = None) -> Rewind:
        """Return what blocks a rewind to the end of `batch`.

        `point` is a restore point at that batch: state and logs are then those that it has.
        """

    def point_damage(self, point: RestorePoint) -> str | None:
        """Return which file of a restore point is gone or has another size; None: none is."""

    def snapshot_size(self, location: str) -> SnapshotSize:
        """Return how large a snapshot of a checkpoint is, and what of it uses disk space."""


class CheckpointApplier(CheckpointInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def copy_beside(self, path: str, to: str, edits: Iterable[Edit] = ()) -> None:
        """Copy a checkpoint to a hidden neighbour of this run and make the edits in the copy.

        What stood there from an earlier try goes; the original stays byte for byte.
        """

    def edit_copy(self, path: str, copy: str, edits: Iterable[Edit]) -> None:
        """Make edits in a copy beside a checkpoint."""

    def remove_beside(self, path: str, copy: str) -> None:
        """Remove a copy beside the checkpoint; fine if it is gone."""

    def rehearse(self, checkpoint: str, entry_point: str) -> Proof:
        """Start a query on a copy of the checkpoint for one batch whose output goes nowhere.

        RefusedError where the function can't be started at all.
        """

    def create(self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]) -> None:
        """Write a checkpoint without batches and state, whose sources begin there.

        `like` is the old one, which gives owner, rights, and the files that were read. What an
        earlier try left at `draft` goes.
        """

    def made_otherwise(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> str | None:
        """Return what of the draft, read back, is not as it was to be written; None: nothing."""

    def delete_draft(self, draft: str) -> None:
        """Remove a draft; fine if it is gone."""

    def copy_newest(self, location: str, to: str) -> int:
        """Make `to` the checkpoint at the end of its newest batch, and return that batch's number.

        The query may run meanwhile. What an earlier try left at `to` goes.
        """

    def move_schemas(self, copy: str, location: str) -> None:
        """Let the state's metadata in a copy name its schema files where the copy will be."""

    def copy_to_batch(
        self,
        location: str,
        batch: int,
        to: str,
        *,
        query_id: str | None = None,
        point: str | None = None,
    ) -> None:
        """Make `to` the checkpoint as it was at the end of `batch`; state is linked, not copied.

        What an earlier try left at `to` goes. `query_id` is put in place of the query's own.
        `point` is the restore point to copy from in place of the checkpoint.
        """
