"""The local file system, as evidence is read from it."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO


class LocalFiles:
    """Folders are listed without a look at their files: a log has thousands of them."""

    def is_folder(self, path: str) -> bool | None:
        """Return whether the path is a folder, None where nothing is there."""
        try:
            return stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return None

    def listed(self, path: str) -> list[tuple[str, bool]]:
        """Return names and whether they are folders; none where the folder does not exist."""
        try:
            with os.scandir(path) as found:
                return [(e.name, _is_folder(e)) for e in found]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def opened(self, path: str) -> BinaryIO:
        """Open a file for reading; what can't seek is taken, too, as a shell's pipe."""
        return open(path, "rb")  # noqa: PTH123

    def modified(self, path: str) -> int | None:
        """Return when a file was written last, in milliseconds since 1970."""
        return os.stat(path).st_mtime_ns // 1_000_000  # noqa: PTH116


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself, for instance: whoever opens it gets the reason.
        return False
