"""Write to remote file systems: objects are made and removed, never edited or renamed.

What reads them is `remote_files`; here is all that changes something there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from headgate.gateway.files.remote import RemoteFiles, open_remote
from headgate.gateway.files.remote_version import Stored

if TYPE_CHECKING:
    from typing import BinaryIO

# In object stores a folder is a part of a name; elsewhere it has to be there.
_WITHOUT_FOLDERS = frozenset({"s3", "abfs", "gcs"})
# A store copies at its own pace; what it takes beyond an answer's time, at the least.
_BYTES_PER_SECOND = 4 << 20


class Changes(Protocol):
    """What is asked of a file system; each call raises OSError, PermissionError or ValueError."""

    def stored(self, path: str, *, whole: bool = True) -> dict[str, Stored]:
        """Return every file below a folder by its path in there."""

    def opened(self, path: str) -> BinaryIO:
        """Open a file for reading."""

    def copy(self, source: str, target: str, size: int) -> None:
        """Copy a file of so many bytes; an existing target is replaced."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file; an existing one is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file; fine if it is gone."""


class RemoteChanges(RemoteFiles):
    """A file system of pyarrow: the store copies by itself, no byte comes here."""

    def copy(self, source: str, target: str, size: int) -> None:
        """Copy a file within the store."""
        self._make_folder(target)
        times = 1 + size / _BYTES_PER_SECOND / self._seconds
        self._asked(lambda: self._system.copy_file(source, target), times=times)

    def write(self, path: str, data: bytes) -> None:
        """Write a file; in an object store it is there whole or not at all."""
        self._make_folder(path)

        def put() -> None:
            with self._system.open_output_stream(path) as stream:
                stream.write(data)

        self._asked(put)

    def remove(self, path: str) -> None:
        """Remove a file; fine if it is gone."""

        def drop() -> None:
            try:
                self._system.delete_file(path)
            except FileNotFoundError:
                return

        self._asked(drop)

    def _make_folder(self, path: str) -> None:
        if self._system.type_name not in _WITHOUT_FOLDERS:
            folder = path.rpartition("/")[0]
            self._asked(lambda: self._system.create_dir(folder, recursive=True))


def open_changes(location: str, settings: Mapping[str, Mapping[str, str]]) -> tuple[Changes, str]:
    """Return what changes the file system of an address, and the path in it.

    ValueError where it is none; PermissionError and OSError as of reading.
    """
    files, path = open_remote(location, settings)
    if isinstance(files, RemoteFiles):
        return RemoteChanges(files._system, files._family, files._seconds), path
    from headgate.gateway.files.hdfs_write import HdfsChanges

    return HdfsChanges(files._system, files._gateway, files._seconds), path
