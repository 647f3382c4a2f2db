"""Remote file systems, read-only: S3-compatible stores, Azure, Google (pyarrow's) and HDFS.

Settings are used to open a file system and kept nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from pyarrow import ArrowException, fs

from headgate.gateway.files.remote_connect import Wanted, address, open_system
from headgate.gateway.files.remote_errors import explained
from headgate.gateway.files.remote_stream import RemoteStream
from headgate.gateway.files.remote_version import Stored
from headgate.gateway.process.deadline import within

if TYPE_CHECKING:
    from headgate.gateway.files.hdfs import HdfsFiles

T = TypeVar("T")
_LISTING = 8


class RemoteFiles:
    """A file system of pyarrow; what it raises becomes OSError, PermissionError or ValueError."""

    def __init__(self, system: fs.FileSystem, family: str, seconds: float) -> None:
        self._system, self._family, self._seconds = system, family, seconds

    def is_folder(self, path: str) -> bool | None:
        """Return whether the path is a folder, None if nothing is there.

        For Azure, pyarrow 26 says that `ck` is not there if `ck.2` is, whose name comes first in
        the listing that it reads: there, a folder is what has something below it.
        """
        found = self._asked(lambda: self._system.get_file_info(path))
        if found.type == fs.FileType.NotFound:
            return True if self._family == "abfs" and self.listed(path) else None
        return bool(found.type == fs.FileType.Directory)

    def listed(self, path: str) -> list[tuple[str, bool]]:
        """Return names and whether they are folders; none if the folder does not exist.

        In Google's store pyarrow lists only those folders that have an object of their own, as
        Hadoop's connector makes it. Without such objects, the folders are derived from the paths
        below.
        """
        selector = fs.FileSelector(path, allow_not_found=True)
        found = self._asked(lambda: self._system.get_file_info(selector))
        names = [(i.base_name, i.type == fs.FileType.Directory) for i in found]
        if self._family == "gs" and not any(is_folder for _, is_folder in names):
            names += [(name, True) for name in self._implied(path)]
        return names

    def _implied(self, path: str) -> list[str]:
        below = fs.FileSelector(path, allow_not_found=True, recursive=True)
        found = self._asked(lambda: self._system.get_file_info(below))
        inner = (i.path[len(path.rstrip("/")) + 1 :].split("/") for i in found)
        return sorted({parts[0] for parts in inner if len(parts) > 1})

    def stored(self, path: str, *, whole: bool = True) -> dict[str, Stored]:
        """Return every file below a folder by its path in there; only its own without `whole`."""
        selector = fs.FileSelector(path, allow_not_found=True, recursive=whole)
        # A listing of thousands of objects is many answers.
        found = self._asked(lambda: self._system.get_file_info(selector), times=_LISTING)
        start = len(path.rstrip("/")) + 1
        return {
            i.path[start:]: Stored(int(i.size or 0), _milliseconds(i.mtime_ns))
            for i in found
            if i.type == fs.FileType.File and not i.path.endswith("/")
        }

    def opened(self, path: str) -> BinaryIO:
        """Open a file for reading; each read has the same time limit as any other answer."""
        opened = self._asked(lambda: self._system.open_input_stream(path, compression=None))

        def read(size: int) -> bytes:
            data: bytes = self._asked(partial(opened.read, None if size < 0 else size))
            return data

        return cast(BinaryIO, RemoteStream(read, opened.close))

    def modified(self, path: str) -> int | None:
        """Return when a file was written last, in milliseconds since 1970; None if unknown."""
        found = self._asked(lambda: self._system.get_file_info(path))
        return _milliseconds(found.mtime_ns)

    def _asked(self, work: Callable[[], T], times: float = 1) -> T:
        try:
            return within(self._seconds * times, work)
        except (OSError, ValueError, ArrowException, NotImplementedError) as error:
            raise explained(error, self._family) from error


def _milliseconds(nanoseconds: int | None) -> int | None:
    return None if nanoseconds is None else int(nanoseconds) // 1_000_000


def open_remote(
    location: str, settings: Mapping[str, Mapping[str, str]]
) -> tuple[RemoteFiles | HdfsFiles, str]:
    """Return the file system of an address and the path in it; ValueError where it is none."""
    found = address(location)
    mine = settings.get(found.family, {})
    seconds = Wanted(found.family, mine, {}).seconds
    if found.family == "hdfs":
        from headgate.gateway.files.hdfs import open_hdfs

        return open_hdfs(location, mine, os.environ), f"/{found.path}"
    try:
        system, path = within(seconds, lambda: open_system(found, mine))
    except (OSError, ArrowException) as error:
        raise explained(error, found.family) from error
    return RemoteFiles(system, found.family, seconds), path
