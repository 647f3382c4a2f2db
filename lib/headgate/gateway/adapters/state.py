"""What plans ask of the state in checkpoints, and how runs rebuild it: by Spark's state reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headgate.errors import HeadgateError
from headgate.gateway.adapters.checkpoints import draft_path
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.remote_view import brought
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.spark.kept_open_state import keep, kept
from headgate.gateway.spark.read_state import read_state
from headgate.model.open_state import OpenState
from headgate.model.restore_points import StoreRows

_READ_SECONDS = 120.0


class StateAdapter:
    """Work of Spark's on checkpoints and copies of them, in a process beside us."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def open_state(self, location: str, batch: int) -> OpenState:
        """Return what the stores hold at the end of `batch`, or why that can't be read.

        It takes a JVM and some seconds; what was read is kept until the next commit.
        """
        if is_remote(location):
            why = "Headgate reads the state for a plan only from a local file system"
            return OpenState(batch=batch, unknown=why)
        checkpoint = Path(location)
        if not any((checkpoint / "state").glob("[0-9]*/[0-9]*/*")):
            return OpenState(batch=batch, unknown=f"{location}/state has no state store files")
        if (known := kept(self._context.home, checkpoint, batch)) is not None:
            return OpenState(batch=batch, stores=known)
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark import change_state

        try:
            with scratch_folder("headgate-open-state-") as scratch:
                found = change_state.open_stores(checkpoint, batch, scratch / "work", _READ_SECONDS)
        except HeadgateError as error:
            return OpenState(batch=batch, unknown=str(error))
        keep(self._context.home, checkpoint, batch, found)
        return OpenState(batch=batch, stores=found)

    def repartition(self, checkpoint: str, draft: str, partitions: int) -> tuple[StoreRows, ...]:
        """Make a copy whose state has so many partitions; see the port."""
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark import change_state

        return change_state.repartition(
            Path(checkpoint),
            draft_path(draft),
            partitions,
            self._work,
            self._context.is_cancelled,
        )

    def export(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state to a folder as Parquet; see `reprocess.ports.inspector.Applier`."""
        from headgate.gateway.spark import change_state

        at, to = self._context, draft_path(draft)
        if not is_remote(checkpoint):
            return change_state.export(Path(checkpoint), to, self._work, at.is_cancelled)
        with brought(checkpoint, at.run_folder, at.registry.file_systems) as copy:
            return change_state.export(copy, to, self._work, at.is_cancelled)

    def read(self, location: str, batch: int) -> tuple[StoreRows, ...]:
        """Read the state at the end of `batch`; nothing is changed."""
        at = self._context
        work = at.run_folder / "read-state"
        if not is_remote(location):
            return read_state(Path(location), batch, work, cancelled=at.is_cancelled)
        with brought(location, at.run_folder, at.registry.file_systems) as copy:
            return read_state(copy, batch, work, cancelled=at.is_cancelled)

    @property
    def _work(self) -> Path:
        return self._context.run_folder / "state"
