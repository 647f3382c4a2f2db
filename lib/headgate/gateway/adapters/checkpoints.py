"""What plans and runs ask of checkpoints, and do to folders."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.checkpoint import folders as checkpoints
from headgate.gateway.checkpoint.remote_copy import listing_hash
from headgate.gateway.checkpoint.remote_view import logs_seen
from headgate.gateway.files.addresses import is_remote
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.ports.checkpoints import Checkpoint

_REMOTE = "it is on a remote file system, where nothing is moved aside in one step"


class FolderWorld:
    """Checkpoints as they are now."""

    registry: Registry

    def checkpoint(self, location: str) -> Checkpoint | None:
        """Return the checkpoint there, or None where there is none."""
        if not is_remote(location):
            return checkpoints.read_checkpoint(location)
        with logs_seen(location, self.registry.file_systems) as folder:
            found = checkpoints.read_checkpoint(str(folder))
        return found and replace(found, location=location.rstrip("/"), fixed=_REMOTE, remote=True)


class FolderEffects(FolderWorld):
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

    def snapshot_place(self) -> str:
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
