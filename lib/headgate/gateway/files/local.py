"""The local file system, as evidence is read from it."""

from __future__ import annotations

import errno
import os
import select
import stat
from dataclasses import dataclass
from typing import BinaryIO

PATIENCE_S = 5.0
"""Seconds to wait for data from a named pipe, which may have no writer."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Folders are listed without opening their files: a log has thousands of them.

    Anything but a regular file, such as a shell's pipe, is read only if it was named itself and
    `patience_s` is not None. In a folder nobody meant it, and reading might never end.
    """

    patience_s: float | None = None

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
        """Open a file for reading, also a pipe or a terminal; OSError for any other device."""
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(number)
            if not (stat.S_ISREG(found.st_mode) and found.st_size):
                _check(number, found, self.patience_s)
            return open(number, "rb")  # noqa: PTH123
        except BaseException:
            os.close(number)
            raise

    def modified(self, path: str) -> int | None:
        """Return when a file was written last, in milliseconds since 1970."""
        return os.stat(path).st_mtime_ns // 1_000_000  # noqa: PTH116


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself, for instance: whoever opens it gets the reason.
        return False


def _check(number: int, found: os.stat_result, patience_s: float | None) -> None:
    """Return where what was opened can be read to an end; OSError where that is not so.

    What the kernel keeps says that nothing is there; it would be waited for without an end.
    """
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISREG(found.st_mode):
        if not _has_more(number, 0):
            raise OSError(errno.EAGAIN, "the file has no data to read now")
        return
    if patience_s is None:
        raise OSError(errno.ENOTSUP, "the path isn't a regular file")
    if not stat.S_ISFIFO(found.st_mode) and not os.isatty(number):
        raise OSError(errno.ENOTSUP, "the path is a device, which Headgate doesn't read")
    if _is_named(number, found) and not _has_more(number, patience_s):
        raise OSError(errno.ENOTSUP, f"the pipe delivered no data for {patience_s:g} s")
    os.set_blocking(number, True)


def _has_more(number: int, patience_s: float) -> bool:
    """Whether something can be read, or the end was reached."""
    return bool(select.select([number], [], [], patience_s)[0])


def _is_named(number: int, found: os.stat_result) -> bool:
    """Whether it is a pipe with a name, which may have no writer; a shell's own always has one."""
    if not stat.S_ISFIFO(found.st_mode):
        return False
    try:
        return not os.readlink(f"/proc/self/fd/{number}").startswith("pipe:")  # noqa: PTH115
    except OSError:
        return True
