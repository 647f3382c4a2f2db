"""What runs do to folders and files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint import folders, spark_metadata
from headgate.gateway.checkpoint.remote_copy import listing_hash
from headgate.gateway.files.addresses import is_remote

# See `steps.outputs.process_records.staged_folder`.
_RESULTS = re.compile(r"\..+\.headgate-[\w.-]+")


class FolderAdapter:
    """Folders as they are now; copies and removals stay below the home's runs."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder is there."""
        return folders.local_path(path).exists()

    def tree_hash(self, path: str) -> str | None:
        """Return a hash over every file's name and bytes, None where the folder is not there."""
        if is_remote(path):
            return listing_hash(path, self._context.registry.file_systems)
        return folders.tree_hash(Path(path), whole=False)

    def snapshot_folder(self) -> str:
        """Return the folder that is this run's own."""
        return str(self._context.run_folder)

    def copy_tree(self, path: str, to: str) -> None:
        """Copy a folder and force it to disk."""
        self._own(to)
        folders.copy_tree(Path(path), Path(to))

    def move(self, path: str, to: str) -> None:
        """Rename a folder in one step."""
        folders.move(Path(path), Path(to))

    def make_like(self, path: str, like: str) -> None:
        """Make an empty folder with the owner and the rights of `like`."""
        folders.make_like(Path(path), Path(like))

    def remove_tree(self, path: str) -> None:
        """Remove a folder below this home's runs, and its parent where that is empty then."""
        self._own(path)
        folders.remove_tree(Path(path))
        with suppress(OSError):
            Path(path).parent.rmdir()

    def remove_results(self, path: str) -> None:
        """Remove a folder of results; no other name is accepted, whatever a plan says.

        Spark fails at the half of a stream's checkpoint, so that it is all gone at once.
        """
        if not _RESULTS.fullmatch(Path(path).name):
            raise StepError(
                f"Headgate didn't delete {path}: the folder isn't the result of a run. Run "
                "`headgate plan` again"
            )
        folders.remove_at_once(Path(path))

    def move_files(self, folder: str, to: str, names: Iterable[str]) -> None:
        """Move files to the same names below another folder, those that are still there."""
        spark_metadata.move_files(Path(folder), Path(to), list(names))

    def read_record(self, path: str) -> str | None:
        """Return the text of a file of this run, None if there is none."""
        self._own(path)
        try:
            return Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write_record(self, path: str, text: str) -> None:
        """Write a file in one step, forced to disk."""
        self._own(path)
        folders.write_file(Path(path), text)

    def _own(self, path: str) -> None:
        """Copies and removals stay below the folder of the runs, whatever a plan says."""
        if not Path(path).resolve().is_relative_to((self._context.home / "runs").resolve()):
            raise StepError(
                f"Headgate didn't change {path}: a run may change only files in "
                f"{self._context.home / 'runs'}. Run `headgate plan` again"
            )
