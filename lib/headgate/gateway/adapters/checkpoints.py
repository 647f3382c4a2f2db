"""What plans and runs ask of checkpoints, and do to folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgate.errors import HeadgateError, StepError
from headgate.gateway.checkpoint import create as new_checkpoint
from headgate.gateway.checkpoint import folders as checkpoints
from headgate.gateway.checkpoint.folders import remove_tree
from headgate.gateway.checkpoint.remote_copy import listing_hash
from headgate.gateway.checkpoint.remote_view import brought, logs_seen, seen
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.spark.kept_open_state import keep, kept
from headgate.model.open_state import OpenState
from headgate.model.registered_pipelines import Registry
from headgate.model.restore_points import StoreRows
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.source_offsets import Beginning, QueryPosition

_REMOTE = "it is on a remote file system, where no folder can be renamed in one step"


class LiveFolderInspector:
    """Checkpoints as they are now."""

    registry: Registry

    def checkpoint(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""
        if not is_remote(location):
            return checkpoints.read_checkpoint(location)
        with logs_seen(location, self.registry.file_systems) as folder:
            found = checkpoints.read_checkpoint(str(folder))
        return found and replace(found, location=location.rstrip("/"), fixed=_REMOTE, remote=True)


class LiveFolderApplier(LiveFolderInspector):
    """What steps change in folders; copies and removals stay below the home's runs."""

    home: Path
    _run: str

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder is there."""
        return checkpoints.local_path(path).exists()

    def tree_hash(self, path: str) -> str | None:
        """Return a hash over every file's name and bytes, None where the folder is not there."""
        if is_remote(path):
            return listing_hash(path, self.registry.file_systems)
        return checkpoints.tree_hash(Path(path), whole=False)

    def snapshot_folder(self) -> str:
        """Return the folder that is this run's own."""
        return str(self.home / "runs" / self._run)

    def copy_tree(self, path: str, to: str) -> None:
        """Copy a folder and force it to disk."""
        self._own(to)
        checkpoints.copy_tree(Path(path), Path(to))

    def move(self, path: str, to: str) -> None:
        """Rename a folder in one step."""
        checkpoints.move(Path(path), Path(to))

    def make_like(self, path: str, like: str) -> None:
        """Make an empty folder with the owner and the rights of `like`."""
        checkpoints.make_like(Path(path), Path(like))

    def remove_tree(self, path: str) -> None:
        """Remove a folder below this home's runs, and its parent where that is empty then."""
        self._own(path)
        checkpoints.remove_tree(Path(path))
        with suppress(OSError):
            Path(path).parent.rmdir()

    def write_record(self, path: str, text: str) -> None:
        """Write a file in one step, forced to disk."""
        self._own(path)
        checkpoints.write_file(Path(path), text)

    def _own(self, path: str) -> None:
        """Copies and removals stay below the folder of the runs, whatever a plan says."""
        if not Path(path).resolve().is_relative_to((self.home / "runs").resolve()):
            raise StepError(f"{path} is not below {self.home / 'runs'}: not touched")


_DRAFT = re.compile(r"\..+\.(new|repartitioned|export)-[^/]+")


class NewCheckpointInspector:
    """Where the sources of a query are."""

    registry: Registry

    def query_position(self, location: str) -> QueryPosition | None:
        """Return where the sources are after the newest committed batch; None: no checkpoint."""
        with seen(location, self.registry.file_systems) as folder:
            return new_checkpoint.read_position(folder)


class NewCheckpointApplier(NewCheckpointInspector):
    """Drafts of new checkpoints, beside the place that they are for."""

    def create_checkpoint(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> None:
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


def draft_path(path: str) -> Path:
    """Return the path; only what has a draft's name is written or removed, whatever a plan says."""
    if not _DRAFT.fullmatch(Path(path).name):
        raise StepError(f"{path} is not a draft of a checkpoint: not changed")
    return Path(path)


_READ_SECONDS = 120.0


class StateInspector:
    """What the state of a checkpoint holds, by Spark's own reader."""

    home: Path
    registry: Registry

    def open_state(self, location: str, batch: int) -> OpenState:
        """Return what the stores hold at the end of `batch`, or why that can't be read.

        It takes a JVM and some seconds; what was read is kept until the next commit.
        """
        if is_remote(location):
            why = "it is on a remote file system, which a plan doesn't copy from"
            return OpenState(batch=batch, unknown=why)
        checkpoint = Path(location)
        if not any((checkpoint / "state").glob("[0-9]*/[0-9]*/*")):
            return OpenState(batch=batch, unknown=f"{location}/state has no files of a store")
        if (known := kept(self.home, checkpoint, batch)) is not None:
            return OpenState(batch=batch, stores=known)
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark import change_state

        try:
            with scratch_folder("headgate-open-state-") as scratch:
                found = change_state.open_stores(checkpoint, batch, scratch / "work", _READ_SECONDS)
        except HeadgateError as error:
            return OpenState(batch=batch, unknown=str(error))
        keep(self.home, checkpoint, batch, found)
        return OpenState(batch=batch, stores=found)


class StateApplier(StateInspector):
    """Work of Spark's on copies, in a process beside us."""

    pause: Callable[[float], None]
    _run: str

    def repartition_state(
        self, checkpoint: str, draft: str, partitions: int
    ) -> tuple[StoreRows, ...]:
        """Make a copy whose state lies in so many partitions; see the port."""
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark import change_state

        return change_state.repartition(
            Path(checkpoint), draft_path(draft), partitions, self._work_folder(), self._cancelled
        )

    def export_state(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state to a folder as Parquet; see `reprocess.ports.inspector.Applier`."""
        from headgate.gateway.spark import change_state

        work = self._work_folder()
        if not is_remote(checkpoint):
            return change_state.export(Path(checkpoint), draft_path(draft), work, self._cancelled)
        with brought(checkpoint, work.parent, self.registry.file_systems) as copy:
            return change_state.export(copy, draft_path(draft), work, self._cancelled)

    def _work_folder(self) -> Path:
        return self.home / "runs" / self._run / "state"

    def _cancelled(self) -> bool:
        """A cancelled run stops here by an exception of its own."""
        self.pause(0)
        return False
