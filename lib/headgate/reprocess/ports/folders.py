"""Folders and files, as steps change them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class FolderApplier(Protocol):
    """What a step may do to them; StepError where it does not work."""

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder is there."""

    def tree_hash(self, path: str) -> str | None:
        """Return a hash over every file's name and bytes, None where the folder is not there.

        Of large files size and time stand for the bytes: nothing edits a store's data in place; on
        a remote file system of all.
        """

    def snapshot_folder(self) -> str:
        """Return the folder that is this run's own, for copies and records."""

    def copy_tree(self, path: str, to: str) -> None:
        """Copy a folder and force it to disk; what stood at `to` from an earlier try goes."""

    def move(self, path: str, to: str) -> None:
        """Rename a folder in one step, forced to disk; `to` must not exist."""

    def make_like(self, path: str, like: str) -> None:
        """Make an empty folder with the owner and the rights of `like`; fine if it is there."""

    def remove_tree(self, path: str) -> None:
        """Remove a folder of `snapshot_folder`; fine if it is gone."""

    def remove_results(self, path: str) -> None:
        """Remove a folder that `staged_folder` has named; fine if it is gone."""

    def move_files(self, folder: str, to: str, names: Iterable[str]) -> None:
        """Move files to the same names below another folder, those that are not there yet."""

    def read_record(self, path: str) -> str | None:
        """Return the text of a file that `write_record` wrote, None if there is none."""

    def write_record(self, path: str, text: str) -> None:
        """Write a file in one step, forced to disk."""
