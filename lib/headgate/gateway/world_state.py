"""What runs do with the state of a checkpoint: spread it anew, write it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headgate.gateway.addresses import is_remote
from headgate.gateway.remote_shadow import brought
from headgate.gateway.world_carry import draft_path
from headgate.model.registry import Registry
from headgate.model.rewind import StoreRows


class StateEffects:
    """Work of Spark's on copies, in a process beside us."""

    home: Path
    registry: Registry
    pause: Callable[[float], None]
    _run: str

    def repartition_state(
        self, checkpoint: str, draft: str, partitions: int
    ) -> tuple[StoreRows, ...]:
        """Make a copy whose state lies in so many partitions; see `plan.world.Effects`."""
        # What starts processes is imported only where one is started.
        from headgate.gateway import state_programs

        return state_programs.repartition(
            Path(checkpoint), draft_path(draft), partitions, self._work_folder(), self._cancelled
        )

    def export_state(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state to a folder as Parquet; see `plan.world.Effects`."""
        from headgate.gateway import state_programs

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
