"""Read evidence from disk or a remote file system; nothing is ever written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import ArrowException, fs

from headgate.errors import EvidenceError, UnreachableError

_URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasbs": "abfss", "wasb": "abfs"}
LARGEST = 256 << 20
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One direct entry of a folder."""

    name: str
    is_folder: bool
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder: its file system, its path there, and the name that a person gave it."""

    filesystem: fs.FileSystem
    path: str
    name: str
    is_folder: bool

    def below(self, relative: str) -> Place:
        """Return the place of a file below this folder; whether it exists is not asked."""
        path, name = (f"{p.rstrip('/')}/{relative}" for p in (self.path, self.name))
        return Place(self.filesystem, path, name, False)


def is_uri(location: str) -> bool:
    """Whether a location names a file system by its scheme."""
    return bool(_URI.match(location)) or location.startswith("file:/")


def find(location: str) -> Place | None:
    """Return the place, None where nothing is there.

    Raises UnreachableError where a remote file system does not answer, EvidenceError where the
    address itself is wrong.
    """
    if not is_uri(location) and ("\0" in location or not location):
        return None
    with _errors(location):
        filesystem, path = _filesystem(location)
        info = filesystem.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            return None
        return Place(filesystem, path, location, info.type == fs.FileType.Directory)


def _filesystem(location: str) -> tuple[fs.FileSystem, str]:
    if not is_uri(location):
        return fs.LocalFileSystem(), str(Path(location).absolute())
    scheme, _, rest = location.partition(":")
    if scheme == "file":
        path = "/" + rest.lstrip("/")
        return fs.LocalFileSystem(), path
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
        f"{_SCHEMES.get(scheme, scheme)}:{rest}"
    )
    return found


@contextmanager
def _errors(location: str) -> Iterator[None]:
    """Turn what file systems raise into ours: a wrong address, or one that does not answer."""
    try:
        yield
    except (ValueError, TypeError, NotImplementedError, ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise EvidenceError(f"{location} is no address that can be read: {reason}") from error
    except PermissionError as error:
        raise EvidenceError(f"{location} may not be read: {error.strerror or error}") from error
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())[:200]
        if is_uri(location) and not location.startswith("file:"):
            raise UnreachableError(f"{location} did not answer: {reason}") from error
        raise EvidenceError(f"{location} can't be read: {reason}") from error


def entries(place: Place, relative: str = "") -> tuple[Entry, ...]:
    """Return the direct entries of a folder by name; none where it does not exist."""
    path = f"{place.path.rstrip('/')}/{relative}".rstrip("/") or "/"
    with _errors(place.name):
        selector = fs.FileSelector(path, allow_not_found=True)
        found = place.filesystem.get_file_info(selector)
    made = [
        Entry(i.base_name, i.type == fs.FileType.Directory, i.size if i.is_file else None)
        for i in found
    ]
    return tuple(sorted(made, key=lambda e: e.name))


def read(place: Place, most: int = LARGEST) -> bytes:
    """Return a file's bytes; EvidenceError where it is larger than `most`."""
    with _errors(place.name), _opened(place) as stream:
        data: bytes = stream.read(most + 1)
    if len(data) > most:
        raise EvidenceError(f"{place.name} is larger than {most >> 20} MiB")
    return data


def _opened(place: Place) -> AbstractContextManager[Any]:
    """Open for reading; Python's own `open` also takes what can't seek, as a shell's pipe."""
    if isinstance(place.filesystem, fs.LocalFileSystem):
        return Path(place.path).open("rb")
    stream: AbstractContextManager[Any] = place.filesystem.open_input_stream(
        place.path, compression=None
    )
    return stream


def read_many(
    folder: Place, relatives: Iterable[str], most: int
) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of files below a folder, and a sentence for each failure."""
    wanted = list(relatives)

    def one(relative: str) -> bytes | str:
        try:
            return read(folder.below(relative), most)
        except (EvidenceError, UnreachableError) as error:
            return str(error)

    with ThreadPoolExecutor(min(_AT_ONCE, len(wanted) or 1)) as pool:
        found = dict(zip(wanted, pool.map(one, wanted), strict=True))
    data = {k: v for k, v in found.items() if isinstance(v, bytes)}
    return data, [v for v in found.values() if isinstance(v, str)]


def local_name(location: str) -> str:
    """Return a location as messages show it: relative paths stay relative."""
    return os.path.normpath(location) if not is_uri(location) else location
