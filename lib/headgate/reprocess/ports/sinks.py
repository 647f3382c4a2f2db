"""The logs and files of file sinks, as plans see and change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from headgate.model.restore_points import SinkLog


class SinkInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def log(self, target: str, batch: int, kept: str | None = None) -> SinkLog | None:
        """Return a file sink's log seen from the end of `batch`, None where there is none.

        `kept` is the log that a restore point kept at that batch.
        """

    def exists(self, folder: str) -> bool:
        """Return whether a local folder is there."""

    def content_hash(self, folder: str) -> str | None:
        """Return a hash over the files of a local folder, None if it isn't there.

        It is the one of `FolderApplier.tree_hash`.
        """

    def can_write(self, folder: str) -> bool:
        """Return whether Headgate may make files in a local folder."""

    def system_folder(self, folder: str, known: Mapping[str, str]) -> str | None:
        """Return the system that a local folder is, contains or is inside of, None if none.

        `known` are such folders, each with what it is. Checkpoints, tables and the outputs of
        streaming queries are recognised by what is in them.
        """

    def newest_batch(self, target: str) -> int | None:
        """Return the newest batch in a file sink's log, None if the folder has no log.

        UnreachableError where a remote file system does not respond.
        """


class SinkApplier(SinkInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def later_files(self, target: str, batch: int, kept: str | None = None) -> list[str]:
        """Return the files that a file sink's batches after this one wrote, relative to it."""

    def copy_log(self, target: str, batch: int, to: str, kept: str | None = None) -> None:
        """Make `to` the file sink's log as it was at the end of `batch`."""
