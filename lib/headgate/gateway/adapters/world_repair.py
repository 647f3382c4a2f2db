"""What plans and runs ask of a broken checkpoint, and do to copies that stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from headgate.errors import CaptureError, RefusedError, StepError
from headgate.gateway.checkpoint import folders as checkpoints
from headgate.gateway.checkpoint import repair as checkpoint_repair
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.ports.checkpoints import Proof

PREFIX = "headgate-proof-"


class RepairWorld:
    """Checkpoints as files."""

    def checkpoint_files(self, location: str, sink: str | None = None) -> CheckpointFiles | None:
        """Return the small files of a checkpoint, None where there is none."""
        return checkpoint_repair.read_files(location, sink)


class RepairEffects(RepairWorld):
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
        from headgate.gateway.spark.rehearsal import Wish, rehearse_query

        place = find(checkpoint, self.registry.file_systems)
        if place is None:
            raise StepError(f"{checkpoint} is not there: nothing was rehearsed")
        importable = (Path(self.registry.path).parent if self.registry.path else Path.cwd(),)
        with scratch_folder(PREFIX) as folder:
            check_room(size_of(place) or 0, folder)
            copy_checkpoint(place, folder / "checkpoint")
            wish = Wish(conf=_NO_CONF)
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
        raise StepError(f"{copy} is no copy of this run beside {path}: not touched")
