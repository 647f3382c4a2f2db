"""What plans and runs ask of a checkpoint's past, and how they go back to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from headgate.errors import CaptureError, EvidenceError, RefusedError, StepError
from headgate.gateway.checkpoint import (
    folders as checkpoints,
)
from headgate.gateway.checkpoint import (
    repair as checkpoint_repair,
)
from headgate.gateway.checkpoint import (
    spark_metadata,
)
from headgate.gateway.checkpoint.batches import read_batches
from headgate.gateway.checkpoint.folders import is_state_data, local_path
from headgate.gateway.checkpoint.remote_copy import sizes_of
from headgate.gateway.checkpoint.remote_view import brought, seen
from headgate.gateway.checkpoint.rewind_copy import copy_to_batch
from headgate.gateway.checkpoint.rewind_facts import file_sizes, read_rewind
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.evidence_files import find, names
from headgate.gateway.spark.read_state import read_state
from headgate.model.registered_pipelines import Registry
from headgate.model.restore_points import LoggedBatch, Rewind, SinkLog, SnapshotSize, StoreRows
from headgate.parse.spark.checkpoint.spark_metadata import FOLDER
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.ports.checkpoints import Proof

_HIDDEN = ".headgate-"


class RewindInspector:
    """A checkpoint's batches, and what stands against going back to one."""

    home: Path
    registry: Registry

    def place(self, location: str) -> str:
        """Return a location with links and relative parts resolved; a remote one as it is."""
        try:
            return str(local_path(location))
        except RefusedError:
            return location.rstrip("/")

    def batches(self, location: str) -> tuple[LoggedBatch, ...]:
        """Return the batches that both logs hold, oldest first."""
        with seen(location, self.registry.file_systems) as folder:
            return read_batches(folder)

    def rewind(self, location: str, batch: int) -> Rewind:
        """Return what stands against the end of `batch`."""
        try:
            with seen(location, self.registry.file_systems) as folder:
                return read_rewind(folder, batch)
        except (OSError, ValueError) as error:
            raise EvidenceError(f"{location} can't be read: {error}") from error

    def sink_log(self, target: str, batch: int) -> SinkLog | None:
        """Return a file sink's log seen from the end of `batch`, None where there is none."""
        path = local_path(target) if urlsplit(target).scheme else self._folder() / target
        return spark_metadata.read_sink_log(path.resolve(), batch)

    def sink_batch(self, target: str) -> int | None:
        """Return the newest batch in a file sink's log, None if the folder has no log."""
        if not is_remote(target):
            path = local_path(target) if urlsplit(target).scheme else self._folder() / target
            return spark_metadata.newest_batch(path.resolve())
        place = find(target, self.registry.file_systems)
        return spark_metadata.newest_of(names(place, FOLDER)) if place and place.is_folder else None

    def _folder(self) -> Path:
        """Return what relative paths are relative to, wherever a command or a worker runs."""
        return Path(self.registry.path).parent if self.registry.path else Path.cwd()

    def snapshot_size(self, location: str) -> SnapshotSize:
        """Return how large a snapshot of the checkpoint is, and what of it takes room."""
        if is_remote(location):
            sizes = sizes_of(location, self.registry.file_systems)
            return SnapshotSize(files=len(sizes), bytes=sum(sizes), copied=sum(sizes))
        folder = local_path(location)
        files = list(file_sizes(folder))
        place = next(p for p in (self.home, *self.home.parents) if p.exists())
        linked = os.stat(folder).st_dev == os.stat(place).st_dev  # noqa: PTH116
        size = sum(size for _, size in files)
        # As `copy_tree` does: data of stores are linked, logs and metadata are not.
        data = sum(s for p, s in files if is_state_data(p.relative_to(folder))) if linked else 0
        return SnapshotSize(files=len(files), bytes=size, copied=size - data)


class RewindApplier(RewindInspector):
    """Copies that end at a batch, and a file sink's log that does."""

    note: Callable[[str], None]
    pause: Callable[[float], None]
    progress: Callable[[int, int | None, str], None]
    _run: str

    def copy_to_batch(
        self, location: str, batch: int, to: str, *, query_id: str | None = None
    ) -> None:
        """Make `to` the checkpoint as it was at the end of `batch`."""
        self._named(to)

        def tell(done: int) -> None:
            self.progress(done, None, "files")
            self.pause(0)

        copy_to_batch(local_path(location), Path(to), batch, query_id=query_id, tell=tell)

    def read_state(self, location: str, batch: int) -> tuple[StoreRows, ...]:
        """Read the state at the end of `batch` by Spark's own reader, in a process beside us."""
        folder = self.home / "runs" / self._run / "read-state"

        def cancelled() -> bool:
            self.pause(0)
            return False

        if not is_remote(location):
            return read_state(Path(location), batch, folder, cancelled=cancelled)
        with brought(location, self.home / "runs" / self._run, self.registry.file_systems) as copy:
            return read_state(copy, batch, folder, cancelled=cancelled)

    def later_files(self, target: str, batch: int) -> list[str]:
        """Return the output files, relative to the folder, of the sink's later batches."""
        return list(spark_metadata.later_files(local_path(target), batch))

    def copy_sink_log(self, target: str, batch: int, to: str) -> None:
        """Make `to` the sink's log as it was at the end of `batch`."""
        self._named(to)
        spark_metadata.copy_sink_log(local_path(target), batch, Path(to))

    def move_files(self, folder: str, to: str, names: Iterable[str]) -> None:
        """Move files to the same names below another folder, those that are still there."""
        spark_metadata.move_files(Path(folder), Path(to), list(names))

    def _named(self, path: str) -> None:
        """Copies and removals stay within names that end in a run's id, whatever a plan says."""
        parts = Path(path).parts[1:]
        if not any(_is_ours(part) for part in parts):
            raise StepError(f"{path} is not a name that a run gives: not changed")


def _is_ours(part: str) -> bool:
    """Return whether a name is of the form `.ck.rewound-20260101-...` or `.headgate-before-...`."""
    words = (".before-", ".after-", ".rewound-", _HIDDEN)
    return part.startswith(".") and any(word in part for word in words)


PREFIX = "headgate-proof-"


class RepairInspector:
    """Checkpoints as files."""

    def checkpoint_files(self, location: str, sink: str | None = None) -> CheckpointFiles | None:
        """Return the small files of a checkpoint, None where there is none."""
        return checkpoint_repair.read_files(location, sink)


class RepairApplier(RepairInspector):
    """Copies beside a checkpoint; they are hidden neighbours whose names end in the run's id."""

    registry: Registry
    _run: str

    def copy_beside(self, path: str, to: str, edits: Iterable[Edit] = ()) -> None:
        """Copy a checkpoint to a neighbour and make the edits in the copy."""
        _check_beside(path, to, self._run)
        checkpoint_repair.make_repaired(Path(path), Path(to), edits)

    def edit_copy(self, path: str, copy: str, edits: Iterable[Edit]) -> None:
        """Make edits in a copy that stands beside the checkpoint."""
        _check_beside(path, copy, self._run)
        checkpoint_repair.edit_files(Path(copy), edits)

    def remove_beside(self, path: str, copy: str) -> None:
        """Remove a copy that stands beside the checkpoint; fine if it is gone."""
        _check_beside(path, copy, None)
        checkpoints.remove_tree(Path(copy))

    def rehearse(self, checkpoint: str, entry_point: str) -> Proof:
        """Start a query on a copy of the checkpoint for one batch that goes nowhere."""
        # What starts processes is imported only where one is started.
        from headgate.gateway.checkpoint.copy import check_room, copy_checkpoint, size_of
        from headgate.gateway.files.evidence_files import find
        from headgate.gateway.files.scratch_folders import scratch_folder
        from headgate.gateway.spark.rehearsal import RehearsalRequest, rehearse_query

        place = find(checkpoint, self.registry.file_systems)
        if place is None:
            raise StepError(f"{checkpoint} is not there: nothing was rehearsed")
        importable = (Path(self.registry.path).parent if self.registry.path else Path.cwd(),)
        with scratch_folder(PREFIX) as folder:
            check_room(size_of(place) or 0, folder)
            copy_checkpoint(place, folder / "checkpoint")
            wish = RehearsalRequest(conf=_NO_CONF)
            try:
                found = rehearse_query(
                    entry_point, folder / "checkpoint", folder / "out", wish, importable=importable
                )
            except CaptureError as error:
                raise RefusedError(f"{entry_point} can't be rehearsed: {error}") from error
        engine = found.engine
        return Proof(
            outcome=engine.outcome.value,
            error_class=engine.error_class,
            message=engine.message,
            rows_in=engine.rows_in,
        )


_NO_CONF: Mapping[str, str] = {}


def _check_beside(path: str, copy: str, run: str | None) -> None:
    """Copies and removals stay beside the checkpoint, under hidden names, whatever a plan says."""
    place, at = Path(path), Path(copy)
    is_copy = at.parent == place.parent and at.name.startswith(f".{place.name}.")
    if not is_copy or (run is not None and not at.name.endswith(f"-{run}")):
        raise StepError(f"{copy} is not this run's copy beside {path}: not changed")
