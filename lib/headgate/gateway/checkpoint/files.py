"""Read the files of a checkpoint that describe the query, and leave out the state data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from headgate.errors import EvidenceError
from headgate.gateway.files.evidence_files import (
    FileLocation,
    FolderEntry,
    entries,
    modified,
    names,
    read_heads,
    read_many,
    together,
)
from headgate.parse.spark.checkpoint.checkpoint import batches
from headgate.parse.spark.checkpoint.spark_metadata import newest_files

_LARGEST = 32 << 20
_HEAD = 1 << 20
_SOURCE_FILES = 2
_TIMED = b'"batchTimestampMs"'
_SCHEMA_FILE = re.compile(r"^\d+_[^/.]+$")


def read_checkpoint_files(folder: FileLocation) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Return contents by relative path, all names that matter, and a sentence for each failure.

    A log contributes its newest files, its newest committed one and its names; a state operator
    its metadata, the schemas of one partition and the names of that partition's files. That is a
    listing for each log and for each store of one partition, however long the query has run and
    however many partitions it has.
    """
    found = _Listing(folder)
    listing = found.whole()
    wanted = [p for p in listing if _is_wanted(p)]
    wanted += _newest(found.offsets, found.commits)
    data, failures = read_many(folder, dict.fromkeys(wanted), _LARGEST)
    # All files that a file source has ever read: their beginning tells enough.
    heads, _, more = read_heads(folder, filter(_is_compacted, listing), _HEAD)
    return {**data, **heads}, listing, [*found.failures, *failures, *more]


def read_sink_files(
    folder: FileLocation,
) -> tuple[dict[str, bytes], list[str], frozenset[str], list[str]]:
    """Return the newest files of a file sink's log, all names, which were cut, and failures."""
    found = _Listing(folder)
    listed = found.files_of("")
    data, cut, failures = read_heads(folder, newest_files(listed), _HEAD)
    return data, listed, cut, [*found.failures, *failures]


def read_log_files(
    folder: FileLocation, newest: int | None
) -> tuple[dict[str, bytes], dict[str, int], list[str]]:
    """Return both logs' files by relative path, their times, and a sentence for each failure.

    Only the newest batches where a number is given. Times are in milliseconds since 1970, of those
    files that do not say their own: asking costs a call for each.
    """
    found = _Listing(folder)
    wanted = []
    for log in ("offsets", "commits"):
        numbers = batches(found.files_of(log))
        wanted += [f"{log}/{n}" for n in (numbers if newest is None else numbers[-newest:])]
    data, failures = read_many(folder, wanted, _LARGEST)
    silent = [p for p, d in data.items() if p.startswith("offsets/") and _TIMED not in d]
    times = dict(zip(silent, together(folder, lambda p: modified(folder, p), silent), strict=True))
    known = {path: at for path, at in times.items() if at is not None}
    return data, known, [*found.failures, *failures]


class _Listing:
    """The names in a checkpoint; a folder that can't be listed costs a sentence."""

    def __init__(self, folder: FileLocation) -> None:
        self.folder = folder
        self.failures: list[str] = []
        self.offsets: list[str] = []
        self.commits: list[str] = []

    def whole(self) -> list[str]:
        """Return every name that matters, relative to the checkpoint."""
        self.offsets, self.commits = together(self.folder, self.files_of, ["offsets", "commits"])
        return [
            *(f"{e.name}/" if e.is_folder else e.name for e in self._entries("")),
            *(f"offsets/{n}" for n in self.offsets),
            *(f"commits/{n}" for n in self.commits),
            *self._sources(),
            *self._state(),
        ]

    def files_of(self, relative: str) -> list[str]:
        """Return the names of a folder's files, hidden ones (`.1.crc`, drafts) left out."""
        try:
            return [n for n in names(self.folder, relative) if n[:1] != "."]
        except EvidenceError as error:
            self.failures.append(str(error))
            return []

    def _entries(self, relative: str) -> Sequence[FolderEntry]:
        try:
            return [e for e in entries(self.folder, relative) if e.name[:1] != "."]
        except EvidenceError as error:
            self.failures.append(str(error))
            return ()

    def _sources(self) -> list[str]:
        """Return the logs of the sources: the first file and the newest one with all before it."""
        folders = [f"sources/{e.name}" for e in self._entries("sources") if e.is_folder]
        logs = together(self.folder, self.files_of, folders)
        return [f"{p}/{n}" for p, log in zip(folders, logs, strict=True) for n in _of_source(log)]

    def _state(self) -> list[str]:
        found = self._entries("state")
        operators = [f"state/{e.name}" for e in found if e.is_folder and e.name.isdecimal()]
        paths = together(self.folder, self._operator, operators)
        return [path for each in paths for path in each]

    def _operator(self, base: str) -> list[str]:
        """Return an operator's files; each of its partitions is a name that ends with a slash."""
        found = self._entries(base)
        kinds = {e.name for e in found if e.is_folder}
        partitions = sorted((k for k in kinds if k.isdecimal()), key=int)
        out = [f"{base}/{p}/" for p in partitions]
        out += [f"{base}/{e.name}" for e in found if not e.is_folder]
        if "_metadata" in kinds:
            out += self._metadata(f"{base}/_metadata")
        if "_stateSchema" in kinds:
            out += self._schemas(f"{base}/_stateSchema")
        return out + (self._partition(f"{base}/{partitions[0]}") if partitions else [])

    def _metadata(self, path: str) -> list[str]:
        found = self._entries(path)
        out = [f"{path}/{e.name}" for e in found if e.name == "metadata"]
        if any(e.name == "v2" and e.is_folder for e in found):
            numbers = batches(self.files_of(f"{path}/v2"))
            out += [f"{path}/v2/{n}" for n in numbers[-2:]]
        return out

    def _schemas(self, path: str) -> list[str]:
        stores = [e.name for e in self._entries(path) if e.is_folder]
        return [
            f"{path}/{store}/{n}"
            for store in stores
            for n in self.files_of(f"{path}/{store}")
            if _SCHEMA_FILE.match(n)
        ]

    def _partition(self, path: str) -> list[str]:
        """Return the names in one partition: its own, or those of each store below it."""
        out = []
        for entry in self._entries(path):
            inner = f"{path}/{entry.name}"
            if not entry.is_folder:
                out.append(inner)
            elif entry.name == "_metadata":
                out += [f"{inner}/{n}" for n in self.files_of(inner) if n == "schema"]
            elif entry.name != "SSTs":
                out += self._store(inner)
        return out

    def _store(self, path: str) -> list[str]:
        found = self._entries(path)
        out = [f"{path}/{e.name}" for e in found if not e.is_folder]
        if any(e.name == "_metadata" for e in found):
            inner = f"{path}/_metadata"
            out += [f"{inner}/{n}" for n in self.files_of(inner) if n == "schema"]
        return out


def _is_wanted(path: str) -> bool:
    if path.endswith("/"):
        return False
    if path.startswith("state/"):
        return "/_metadata/" in path or "/_stateSchema/" in path
    return path == "metadata" or (path.startswith("sources/") and not _is_compacted(path))


def _is_compacted(path: str) -> bool:
    return path.startswith("sources/") and path.endswith(".compact")


def _newest(offsets: list[str], commits: list[str]) -> list[str]:
    logged, done = batches(offsets), batches(commits)
    before = [b for b in logged if done and b <= done[-1]]
    numbers = {*logged[-3:], *before[-2:]}
    return [*(f"offsets/{b}" for b in sorted(numbers)), *(f"commits/{b}" for b in done[-1:])]


def _of_source(log: Iterable[str]) -> list[str]:
    """Return what of a source's log is read: its first entry, and the newest of a file source."""
    kept = [n for n in log if n.removesuffix(".compact").isdecimal()]
    ordered = sorted(kept, key=lambda n: int(n.removesuffix(".compact")))
    first = [n for n in ordered if n in ("0", "0.compact")][:1]
    return [*first, *(n for n in ordered[-_SOURCE_FILES:] if n not in first)]
