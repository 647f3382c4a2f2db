"""What plans and runs do with a checkpoint's state: count it, repartition it, export it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headgate.errors import HeadgateError
from headgate.gateway.adapters.world_carry import draft_path
from headgate.gateway.checkpoint.remote_view import brought
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.spark.kept_open_state import keep, kept
from headgate.model.open_state import OpenState
from headgate.model.registered_pipelines import Registry
from headgate.model.restore_points import StoreRows

_READ_SECONDS = 120.0


class StateWorld:
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
        from headgate.gateway.spark import change_state as state_programs

        try:
            with scratch_folder("headgate-open-state-") as scratch:
                found = state_programs.open_stores(
                    checkpoint, batch, scratch / "work", _READ_SECONDS
                )
        except HeadgateError as error:
            return OpenState(batch=batch, unknown=str(error))
        keep(self.home, checkpoint, batch, found)
        return OpenState(batch=batch, stores=found)


class StateEffects(StateWorld):
    """Work of Spark's on copies, in a process beside us."""

    pause: Callable[[float], None]
    _run: str

    def repartition_state(
        self, checkpoint: str, draft: str, partitions: int
    ) -> tuple[StoreRows, ...]:
        """Make a copy whose state lies in so many partitions; see `plan.world.Effects`."""
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark import change_state as state_programs

        return state_programs.repartition(
            Path(checkpoint), draft_path(draft), partitions, self._work_folder(), self._cancelled
        )

    def export_state(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state to a folder as Parquet; see `plan.world.Effects`."""
        from headgate.gateway.spark import change_state as state_programs

        work = self._work_folder()
        if not is_remote(checkpoint):
            return state_programs.export(Path(checkpoint), draft_path(draft), work, self._cancelled)
        with brought(checkpoint, work.parent, self.registry.file_systems) as copy:
            return state_programs.export(copy, draft_path(draft), work, self._cancelled)

    def _work_folder(self) -> Path:
        return self.home / "runs" / self._run / "state"

    def _cancelled(self) -> bool:
        """A cancelled run stops here by an exception of its own."""
        self.pause(0)
        return False
