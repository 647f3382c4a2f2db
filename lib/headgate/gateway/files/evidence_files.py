"""Read evidence from disk or a remote file system; nothing is ever written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from headgate.errors import EvidenceError, UnreachableError
from headgate.gateway.files.addresses import is_uri as is_uri
from headgate.gateway.files.addresses import without_secret
from headgate.gateway.files.local import PATIENCE_S, LocalFiles

LARGEST = 256 << 20
_AT_ONCE = 16
_BLOCK = 1 << 16
T = TypeVar("T")
Settings = Mapping[str, Mapping[str, str]]


class Files(Protocol):
    """What is asked of a file system; each call raises OSError, PermissionError or ValueError."""

    def is_folder(self, path: str) -> bool | None:
        """Return whether the path is a folder, None where nothing is there."""

    def listed(self, path: str) -> list[tuple[str, bool]]:
        """Return names and whether they are folders; none where the folder does not exist."""

    def opened(self, path: str) -> BinaryIO:
        """Open a file for reading."""

    def modified(self, path: str) -> int | None:
        """Return when a file was written last, in milliseconds since 1970; None if unknown."""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One direct entry of a folder."""

    name: str
    is_folder: bool


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file or folder: its file system, its path there, and the name that a person gave it."""

    files: Files
    path: str
    name: str
    is_folder: bool

    def below(self, relative: str) -> FileLocation:
        """Return the location of a file below this folder; whether it exists is not checked."""
        path, name = (f"{p.rstrip('/')}/{relative}" for p in (self.path, self.name))
        return FileLocation(self.files, path, _shown(name), False)


def _shown(name: str) -> str:
    """Return a name that can be written; a local one may hold bytes that are no characters."""
    return name.encode("utf-8", "replace").decode()


def find(location: str, settings: Settings | None = None) -> FileLocation | None:
    """Return the location, None if nothing is there.

    `settings` are those of `[file_systems]` by scheme. Raises UnreachableError if a remote file
    system does not answer, EvidenceError if the address itself is wrong or may not be read.
    """
    if not is_uri(location) and ("\0" in location or not location):
        return None
    with explained_errors(location):
        files, path = _opened(location, settings or {})
        is_folder = files.is_folder(path)
        if is_folder is None:
            return None
        if isinstance(files, LocalFiles) and not is_folder:
            files = LocalFiles(PATIENCE_S)
        return FileLocation(files, path, _shown(without_secret(location)), is_folder)


def _opened(location: str, settings: Settings) -> tuple[Files, str]:
    if not is_uri(location):
        return LocalFiles(), str(Path(location).absolute())
    if location.startswith("file:"):
        return LocalFiles(), "/" + location.removeprefix("file:").lstrip("/")
    # What reads remote file systems costs half a second to import.
    from headgate.gateway.files.remote import open_remote

    return open_remote(location, settings)


@contextmanager
def explained_errors(location: str) -> Iterator[None]:
    """Turn what file systems raise into ours: a wrong address, or one that does not answer."""
    shown = without_secret(location)
    try:
        yield
    except PermissionError as error:
        raise EvidenceError(f"no permission to read {shown}: {_reason(error)}") from error
    except (ValueError, TypeError, NotImplementedError) as error:
        raise EvidenceError(f"{shown} can't be read: {_reason(error)}") from error
    except OSError as error:
        if is_uri(location) and not location.startswith("file:"):
            raise UnreachableError(f"{shown} could not be read: {_reason(error)}") from error
        raise EvidenceError(f"{shown} can't be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(said).split())[:200]


def entries(place: FileLocation, relative: str = "") -> tuple[FolderEntry, ...]:
    """Return the direct entries of a folder by name; none where it does not exist."""
    return tuple(FolderEntry(name, is_folder) for name, is_folder in _listed(place, relative))


def names(place: FileLocation, relative: str) -> list[str]:
    """Return the names of the files in a folder, sorted; none where it does not exist."""
    return [name for name, is_folder in _listed(place, relative) if not is_folder]


def _listed(place: FileLocation, relative: str) -> list[tuple[str, bool]]:
    path = f"{place.path.rstrip('/')}/{relative}".rstrip("/") or "/"
    with explained_errors(f"{place.name}/{relative}" if relative else place.name):
        return sorted(place.files.listed(path))


def read(place: FileLocation, most: int = LARGEST) -> bytes:
    """Return a file's bytes; EvidenceError where it is larger than `most`."""
    with explained_errors(place.name), place.files.opened(place.path) as stream:
        data: bytes = stream.read(most + 1) or b""
    if len(data) > most:
        raise EvidenceError(
            f"{place.name} is larger than {most >> 20} MiB, the most that Headgate reads: "
            "use a smaller file"
        )
    return data


def modified(folder: FileLocation, relative: str) -> int | None:
    """Return when a file below a folder was written last (ms since 1970), None if unknown."""
    place = folder.below(relative)
    try:
        with explained_errors(place.name):
            return place.files.modified(place.path)
    except (EvidenceError, UnreachableError):
        return None


def opened(place: FileLocation) -> BinaryIO:
    """Open a file to read it piece by piece; errors as of `read`, also while it is read."""
    with explained_errors(place.name):
        return place.files.opened(place.path)


def read_many(
    folder: FileLocation, relatives: Iterable[str], most: int
) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of files below a folder, and a sentence for each failure."""
    wanted = list(relatives)

    def one(relative: str) -> bytes | str:
        try:
            with folder.files.opened(f"{folder.path.rstrip('/')}/{relative}") as stream:
                data = stream.read(_BLOCK)
                if len(data) == _BLOCK:
                    data += stream.read(most + 1 - _BLOCK)
            if len(data) <= most:
                return data
        except (OSError, ValueError):
            pass  # Read again, for its reason: most files are fine, and there may be thousands.
        try:
            return read(folder.below(relative), most)
        except (EvidenceError, UnreachableError) as error:
            return str(error)

    found = dict(zip(wanted, together(folder, one, wanted), strict=True))
    data = {k: v for k, v in found.items() if isinstance(v, bytes)}
    return data, [v for v in found.values() if isinstance(v, str)]


def together(folder: FileLocation, work: Callable[[str], T], items: list[str]) -> list[T]:
    """Do `work` for each item: side by side where each waits for a remote answer."""
    if isinstance(folder.files, LocalFiles) or len(items) < 2:
        return [work(item) for item in items]
    # Threads cost an import that a local file has no use for.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(_AT_ONCE, len(items))) as pool:
        return list(pool.map(work, items))


def read_heads(
    folder: FileLocation, relatives: Iterable[str], most: int
) -> tuple[dict[str, bytes], frozenset[str], list[str]]:
    """Return the first bytes of files, which files are longer, and a sentence for each failure."""
    wanted = list(relatives)

    def one(relative: str) -> bytes | str:
        try:
            with opened(folder.below(relative)) as stream:
                return stream.read(most + 1)
        except (OSError, EvidenceError, UnreachableError) as error:
            return str(error)

    found = dict(zip(wanted, together(folder, one, wanted), strict=True))
    data = {k: v[:most] for k, v in found.items() if isinstance(v, bytes)}
    cut = frozenset(k for k, v in found.items() if isinstance(v, bytes) and len(v) > most)
    return data, cut, [v for v in found.values() if isinstance(v, str)]


def local_name(location: str) -> str:
    """Return a location as messages show it: relative paths stay relative."""
    return os.path.normpath(location) if not is_uri(location) else without_secret(location)
