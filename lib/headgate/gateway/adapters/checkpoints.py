"""What plans and runs ask of checkpoints, and how they copy and create them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from headgate.errors import CaptureError, EvidenceError, RefusedError, StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint import create as new_checkpoint
from headgate.gateway.checkpoint import repair as checkpoint_repair
from headgate.gateway.checkpoint.batches import read_batches
from headgate.gateway.checkpoint.folders import (
    copy_error,
    is_state_data,
    local_path,
    read_checkpoint,
    remove_tree,
)
from headgate.gateway.checkpoint.history import mark_skip
from headgate.gateway.checkpoint.remote_copy import sizes_of
from headgate.gateway.checkpoint.remote_view import logs_seen, seen
from headgate.gateway.checkpoint.rewind_copy import copy_to_batch
from headgate.gateway.checkpoint.rewind_facts import file_sizes, read_rewind
from headgate.gateway.files.addresses import is_remote
from headgate.model.restore_points import LoggedBatch, RestorePoint, Rewind, SnapshotSize
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.checkpoint.source_offsets import Beginning, QueryPosition
from headgate.reprocess.ports.checkpoints import Checkpoint, Proof

_REMOTE = "the checkpoint is on a remote file system, which can't rename folders atomically"
_DRAFT = re.compile(r"\..+\.(new|repartitioned|export)-[^/]+")
_HIDDEN = ".headgate-"
_PREFIX = "headgate-proof-"
_NO_CONF: Mapping[str, str] = {}


class CheckpointAdapter:
    """Checkpoints as they are now, and copies and drafts beside them."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def read(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""
        if not is_remote(location):
            return read_checkpoint(location)
        with logs_seen(location, self._context.registry.file_systems) as folder:
            found = read_checkpoint(str(folder))
        return found and replace(found, location=location.rstrip("/"), fixed=_REMOTE, remote=True)

    def files(self, location: str, sink: str | None = None) -> CheckpointFiles | None:
        """Return the small files of a checkpoint, None where there is none."""
        return checkpoint_repair.read_files(location, sink)

    def query_position(self, location: str) -> QueryPosition | None:
        """Return where the sources are after the newest committed batch; None: no checkpoint."""
        with seen(location, self._context.registry.file_systems) as folder:
            return new_checkpoint.read_position(folder)

    def place(self, location: str) -> str:
        """Return a location with links and relative parts resolved; a remote one as it is."""
        try:
            return str(local_path(location))
        except RefusedError:
            return location.rstrip("/")

    def batches(self, location: str) -> tuple[LoggedBatch, ...]:
        """Return the batches that both logs hold, oldest first."""
        with seen(location, self._context.registry.file_systems) as folder:
            return read_batches(folder)

    def rewind(self, location: str, batch: int, point: str | None = None) -> Rewind:
        """Return what prevents a rewind to the end of `batch`."""
        settings = self._context.registry.file_systems
        try:
            with seen(location, settings) as live:
                if point is None:
                    return read_rewind(live, batch)
                with seen(point, settings) as folder:
                    return read_rewind(folder, batch, live)
        except (OSError, ValueError) as error:
            is_damaged = point is None and not isinstance(error, OSError)
            step = ". Run `headgate plan repair`" if is_damaged else ""
            said = f"{point or location} can't be read: {copy_error(error)}{step}"
            raise EvidenceError(said) from error

    def point_damage(self, point: RestorePoint) -> str | None:
        """Return which file of a restore point is gone or has another size."""
        # Imported here: hardly a plan asks.
        from headgate.gateway.checkpoint.points import damage

        return damage(point, self._context.registry.file_systems)

    def snapshot_size(self, location: str) -> SnapshotSize:
        """Return how large a snapshot of the checkpoint is, and how much of it needs disk space."""
        if is_remote(location):
            sizes = sizes_of(location, self._context.registry.file_systems)
            return SnapshotSize(files=len(sizes), bytes=sum(sizes), copied=sum(sizes))
        folder = local_path(location)
        files = list(file_sizes(folder))
        place = next(p for p in (self._context.home, *self._context.home.parents) if p.exists())
        linked = os.stat(folder).st_dev == os.stat(place).st_dev  # noqa: PTH116
        size = sum(size for _, size in files)
        # As `copy_tree` does: data of stores are linked, logs and metadata are not.
        data = sum(s for p, s in files if is_state_data(p.relative_to(folder))) if linked else 0
        return SnapshotSize(files=len(files), bytes=size, copied=size - data)

    def copy_beside(self, path: str, to: str, edits: Iterable[Edit] = ()) -> None:
        """Copy a checkpoint to a neighbour and make the edits in the copy."""
        _check_beside(path, to, self._context.run)
        checkpoint_repair.make_repaired(Path(path), Path(to), edits)

    def edit_copy(self, path: str, copy: str, edits: Iterable[Edit]) -> None:
        """Make edits in a copy beside the checkpoint."""
        _check_beside(path, copy, self._context.run)
        changes = tuple(edits)
        checkpoint_repair.edit_files(Path(copy), changes)
        if any(edit.path.startswith("offsets/") for edit in changes):
            mark_skip(Path(copy))

    def remove_beside(self, path: str, copy: str) -> None:
        """Remove a copy beside the checkpoint; fine if it is gone."""
        _check_beside(path, copy, None)
        remove_tree(Path(copy))

    def rehearse(self, checkpoint: str, entry_point: str) -> Proof:
        """Start a query on a copy of the checkpoint for one batch that goes nowhere."""
        # What starts processes is imported only where one is started.
        from headgate.gateway.checkpoint.copy import check_disk_space, copy_checkpoint, size_of
        from headgate.gateway.files.evidence_files import find
        from headgate.gateway.files.scratch_folders import scratch_folder
        from headgate.gateway.spark.rehearsal import RehearsalRequest, rehearse_query

        place = find(checkpoint, self._context.registry.file_systems)
        if place is None:
            raise StepError(
                f"the run's new checkpoint {checkpoint} no longer exists, so the query was not "
                f"rehearsed. Run `headgate undo {self._context.run}`, then `headgate plan` again"
            )
        importable = (self._context.folder,)
        with scratch_folder(_PREFIX) as folder:
            check_disk_space(size_of(place) or 0, folder)
            copy_checkpoint(place, folder / "checkpoint")
            wish = RehearsalRequest(conf=_NO_CONF)
            try:
                found = rehearse_query(
                    entry_point, folder / "checkpoint", folder / "out", wish, importable=importable
                )
            except CaptureError as error:
                raise RefusedError(
                    f"{entry_point} can't be rehearsed: {str(error).rstrip('.')}. Check "
                    "`entry_point` in headgate.toml, then run `headgate plan` again"
                ) from error
        engine = found.engine
        return Proof(
            outcome=engine.outcome.value,
            error_class=engine.error_class,
            message=engine.message,
            rows_in=engine.rows_in,
        )

    def create(self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]) -> None:
        """Write a checkpoint that begins there; see `reprocess.ports.inspector.Applier`."""
        new_checkpoint.create_checkpoint(draft_path(draft), Path(like), query_id, beginnings)

    def made_otherwise(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> str | None:
        """Return what of the draft, read back from disk, is not as it was to be written."""
        return new_checkpoint.differs(Path(draft), Path(like), query_id, beginnings)

    def delete_draft(self, draft: str) -> None:
        """Remove a draft; fine if it is gone."""
        remove_tree(draft_path(draft))

    def copy_newest(self, location: str, to: str) -> int:
        """Make `to` the checkpoint at the end of its newest batch; return that batch's number."""
        from headgate.gateway.checkpoint.point_copy import keep_newest

        place = local_path(location)
        _check_beside(str(place), to, self._context.run)
        return keep_newest(place, Path(to), Path(to)).batch

    def move_schemas(self, copy: str, location: str) -> None:
        """Let the state's metadata in a copy name schema files where it will be."""
        from headgate.gateway.checkpoint.copy import point_to

        place = local_path(location)
        _check_beside(str(place), copy, self._context.run)
        point_to(Path(copy), str(place))

    def copy_to_batch(
        self,
        location: str,
        batch: int,
        to: str,
        *,
        query_id: str | None = None,
        point: str | None = None,
    ) -> None:
        """Make `to` the checkpoint as it was at the end of `batch`."""
        check_named(to)

        def on_progress(done: int) -> None:
            self._context.progress(done, None, "files")
            self._context.pause(0)

        place = local_path(location)
        copy_to_batch(
            local_path(point) if point else place,
            Path(to),
            batch,
            query_id=query_id,
            stands_at=str(place) if point else None,
            on_progress=on_progress,
        )


def draft_path(path: str) -> Path:
    """Return the path; only what has a draft's name is written or removed, whatever a plan says."""
    if not _DRAFT.fullmatch(Path(path).name):
        raise StepError(
            f"Headgate didn't change {path}: a run may change only folders with names such as "
            ".CHECKPOINT.new-RUN. Run `headgate plan` again"
        )
    return Path(path)


def check_named(path: str) -> None:
    """Copies and removals stay within names that end in a run's id, whatever a plan says."""
    if not any(_is_ours(part) for part in Path(path).parts[1:]):
        raise StepError(
            f"Headgate didn't change {path}: a run may change only folders with names such as "
            ".CHECKPOINT.before-RUN. Run `headgate plan` again"
        )


def _is_ours(part: str) -> bool:
    """Return whether a name is of the form `.ck.rewound-20260101-...` or `.headgate-before-...`."""
    words = (".before-", ".after-", ".rewound-", _HIDDEN)
    return part.startswith(".") and any(word in part for word in words)


def _check_beside(path: str, copy: str, run: str | None) -> None:
    """Copies and removals stay beside the checkpoint, under hidden names, whatever a plan says."""
    place, at = Path(path), Path(copy)
    is_copy = at.parent == place.parent and at.name.startswith(f".{place.name}.")
    if not is_copy or (run is not None and not at.name.endswith(f"-{run}")):
        raise StepError(
            f"Headgate didn't change {copy}: the folder isn't this run's copy of {path}. Run "
            "`headgate plan` again"
        )
