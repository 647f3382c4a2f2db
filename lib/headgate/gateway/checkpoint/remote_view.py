"""Read a checkpoint, wherever it is, as if it were a folder of this machine.

A remote one gets a shadow: a scratch folder with its small files, under their names and with
their times of writing. The data of stores are there only by name and size, as sparse files
without content: code that only lists the files reads none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shutil import disk_usage

from headgate.errors import EvidenceError, RefusedError
from headgate.gateway.checkpoint.folders import is_state_data, local_path, remove_tree
from headgate.gateway.files.addresses import is_remote, without_secret
from headgate.gateway.files.evidence_files import (
    FileLocation,
    Settings,
    explained_errors,
    find,
    read_many,
)
from headgate.gateway.files.remote_version import Stored
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.text.numbers import size

_PREFIX = "headgate-seen-"
_LARGEST = 256 << 20
_NEWEST = 6
_LOGS = ("offsets", "commits")
Wanted = Callable[[str], bool]


def seen(location: str, settings: Settings) -> AbstractContextManager[Path]:
    """Yield the folder of a checkpoint, or a shadow of it; one that is not there may be no folder.

    EvidenceError where a file that matters can't be read, UnreachableError where nothing answers.
    """
    return _shadow(location, settings, is_small)


def logs_seen(location: str, settings: Settings) -> AbstractContextManager[Path]:
    """Yield the same with only the metadata and the two logs, whose newest files are whole."""
    return _shadow(location, settings, None)


@contextmanager
def _shadow(location: str, settings: Settings, wanted: Wanted | None) -> Iterator[Path]:
    if not is_remote(location):
        yield local_path(location)
        return
    with scratch_folder(_PREFIX) as scratch:
        folder = scratch / "checkpoint"
        place = find(location, settings)
        if place is not None and place.is_folder:
            folder.mkdir()
            if wanted is None:
                _make(place, folder, _logs(place), _newest)
            else:
                _make(place, folder, stored_below(place), lambda names: filter(wanted, names))
        try:
            yield folder
        except EvidenceError as error:
            said = str(error).replace(str(folder), without_secret(location))
            raise EvidenceError(said) from error


@contextmanager
def brought(location: str, below: Path, settings: Settings) -> Iterator[Path]:
    """Yield a whole copy of a remote checkpoint that names its own schema files, then remove it.

    RefusedError if the disk space is too small for it.
    """
    from headgate.gateway.checkpoint.copy import copy_checkpoint, point_to_itself

    place = find(location, settings)
    if place is None:
        raise EvidenceError(f"no checkpoint found at {without_secret(location)}")
    copy = below / "brought"
    remove_tree(copy)
    below.mkdir(parents=True, exist_ok=True)
    needed, free = sum(s.size for s in stored_below(place).values()), disk_usage(below).free
    if needed > free:
        raise RefusedError(
            f"{below} has {size(free)} free, but the copy of {without_secret(location)} needs "
            f"{size(needed)}. Free disk space, then try again"
        )
    try:
        copy_checkpoint(place, copy)
        point_to_itself(copy)
        yield copy
    finally:
        remove_tree(copy)


def stored_below(
    place: FileLocation, relative: str = "", *, whole: bool = True
) -> dict[str, Stored]:
    """Return what the file system says of every file below a folder, by its path in there."""
    base = f"{place.path.rstrip('/')}/{relative}".rstrip("/")
    with explained_errors(place.name):
        found: dict[str, Stored] = place.files.stored(base, whole=whole)  # type: ignore[attr-defined]
    return found


def _logs(place: FileLocation) -> dict[str, Stored]:
    own = stored_below(place, whole=False)
    found = {name: one for name, one in own.items() if name == "metadata"}
    for log in _LOGS:
        inner = stored_below(place, log, whole=False)
        found |= {f"{log}/{name}": one for name, one in inner.items()}
    return found


def _newest(names: Mapping[str, Stored]) -> Iterator[str]:
    """Yield the metadata and the newest offsets: for commits, names and times are enough."""
    yield from (n for n in names if n == "metadata")
    offsets = [n for n in names if n.startswith("offsets/") and n[8:].isdecimal()]
    yield from sorted(offsets, key=lambda n: int(n[8:]))[-_NEWEST:]


def is_small(name: str) -> bool:
    """Whether a file's bytes are wanted: of a store's data only RocksDB's list of its tables."""
    return not is_state_data(Path(name)) or name.endswith(".zip")


def _make(
    place: FileLocation,
    folder: Path,
    files: Mapping[str, Stored],
    choose: Callable[[Mapping[str, Stored]], Iterator[str]],
) -> None:
    wanted = list(choose(files))
    data, failures = read_many(place, wanted, _LARGEST)
    gone = [n for n in wanted if n not in data]
    # A running query removes old batches while we look; what is still there could not be read.
    if gone and any(_is_there(place.below(n)) for n in gone):
        raise EvidenceError(failures[0])
    for name, one in files.items():
        if name in gone:
            continue
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            raise EvidenceError(
                f"{place.name} lists a file outside the checkpoint folder: {name!r}. Remove this "
                "file from the storage"
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, data.get(name), one)


def _is_there(file: FileLocation) -> bool:
    with explained_errors(file.name):
        return file.files.is_folder(file.path) is not None


def _write(file: Path, data: bytes | None, one: Stored) -> None:
    with file.open("wb") as out:
        if data is None:
            out.truncate(one.size)
        else:
            out.write(data)
    if one.written is not None:
        os.utime(file, ns=(one.written * 1_000_000, one.written * 1_000_000))
