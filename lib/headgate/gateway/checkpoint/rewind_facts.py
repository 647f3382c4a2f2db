"""Find out whether a checkpoint can be rewound to the end of a batch: state, logs, input files."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headgate.gateway.checkpoint.batches import commits, file_source_offsets, logged
from headgate.model.restore_points import Rewind
from headgate.parse.spark.checkpoint.reader import batches
from headgate.parse.spark.checkpoint.source_log import read_source_entry
from headgate.parse.spark.checkpoint.state_versions import Ids, needed, version_of
from headgate.text.json_text import read_json
from headgate.text.numbers import plural

_SCHEMA_FILE = re.compile(rb'"([^"]*?)(/state/\d+/_stateSchema/[^"]*)"')
_NAMED = 3
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class _Store:
    operator: int
    partition: int
    folder: Path


def read_rewind(folder: Path, batch: int, live: Path | None = None) -> Rewind:
    """Return what prevents a rewind to the end of `batch`; every needed file is looked for.

    `live` is the query's own checkpoint if `folder` is a restore point of it: what later batches
    have read is in its logs.
    """
    stores = list(_stores(folder))
    ids = _Ids(folder)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda s: _missing(s, batch + 1, ids.of(s, batch)), stores)
        missing = [text for text in found if text is not None]
    sizes = [size for _, size in file_sizes(folder)]
    inputs = list(_later_inputs(folder, batch, live or folder))
    return Rewind(
        batch=batch,
        missing=(*_logs(folder, batch), *_partitions(folder), *_few(missing)),
        lost_inputs=tuple(p for p in inputs if not _is_there(p)),
        input_files=len(inputs),
        files=len(sizes),
        size=sum(sizes),
        stores=len(stores),
        foreign_schema_files=tuple(sorted(set(foreign_schema_files(folder)))),
    )


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """The files that a store is loaded from, or what is `missing`; `oldest` is their version."""

    files: tuple[Path, ...] = ()
    oldest: int = 0
    missing: str | None = None


def store_files(folder: Path, batch: int) -> Iterator[StoreFiles]:
    """Yield for each store the files that its state at the end of `batch` is loaded from."""
    ids = _Ids(folder)
    for store in _stores(folder):
        found = needed((p.name for p in store.folder.iterdir()), batch + 1, ids.of(store, batch))
        if lacks := _missing(store, batch + 1, ids.of(store, batch)):
            yield StoreFiles(missing=lacks)
            continue
        names = [*([found.snapshot] if found.snapshot else []), *found.changes]
        files = [store.folder / name for name in names]
        if found.snapshot is not None and found.snapshot.endswith(".zip"):
            files += _table_paths(store.folder, store.folder / found.snapshot)
        versions = [v for name in names if (v := version_of(name)) is not None]
        yield StoreFiles(tuple(files), min(versions, default=batch + 1))


def _table_paths(folder: Path, archive: Path) -> Iterator[Path]:
    for name in _table_files(archive):
        place = folder / "SSTs" / name
        yield place if place.is_file() else folder / "logs" / name


def file_sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield each file and its bytes; what a running query takes away meanwhile is left out."""
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                path = Path(root, name)
                found = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_size


def _logs(folder: Path, batch: int) -> Iterator[str]:
    """Yield what the logs lack; a restart reads the entry before the last one, too.

    Source: Spark 4.2.0 ends with "batch N doesn't exist" without it.
    """
    if batch > 0 and batch - 1 not in logged(folder, "offsets"):
        yield f"offsets/{batch - 1} is missing: a restart after batch {batch} needs this file"


def _few(missing: list[str]) -> list[str]:
    more = len(missing) - _NAMED
    return [
        *missing[:_NAMED],
        *([f"{plural(more, 'more state store')} with missing files"] if more > 0 else []),
    ]


class _Ids:
    """The ids of the state's versions in checkpoint format 2, as the commits say them."""

    def __init__(self, folder: Path) -> None:
        self._commits = {
            n: commit.state_ids for n, commit in commits(folder) if commit.state_ids is not None
        }

    def of(self, store: _Store, batch: int) -> Ids | None:
        """Return the ids by version; None where the batch's commit has none: format 1."""
        if batch not in self._commits:
            return None
        return {
            number + 1: ids[store.operator][store.partition]
            for number, ids in self._commits.items()
            if store.partition < len(ids.get(store.operator, ()))
        }


def _stores(folder: Path) -> Iterator[_Store]:
    """Yield each partition's default store, or the stores with a name in it."""
    for operator in _numbered(folder / "state"):
        for partition in _numbered(operator):
            inner = [p for p in _folders(partition) if p.name not in _NO_STORE]
            for place in inner or [partition]:
                yield _Store(int(operator.name), int(partition.name), place)


_NO_STORE = frozenset({"_metadata", "SSTs", "logs", "archive"})


def _missing(store: _Store, version: int, ids: Ids | None) -> str | None:
    found = needed((p.name for p in store.folder.iterdir()), version, ids)
    depth = 3 if store.folder.name.isdecimal() else 4
    location = "/".join(store.folder.parts[-depth:])
    if found.missing is not None:
        return (
            f"{location} lacks {found.missing}, which Spark needs to load the state after "
            f"batch {version - 1}"
        )
    if found.snapshot is None or not found.snapshot.endswith(".zip"):
        return None
    try:
        files = _table_files(store.folder / found.snapshot)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, AttributeError) as error:
        return f"{location}/{found.snapshot} can't be read: {error}"
    absent = [n for n in files if not _has(store.folder, n)]
    return f"{location} lacks SSTs/{absent[0]}, which {found.snapshot} needs" if absent else None


def _table_files(archive: Path) -> list[str]:
    """Return the names of RocksDB's files that a snapshot is made of, as its `metadata` says."""
    with zipfile.ZipFile(archive) as opened:
        text = opened.read("metadata").decode()
    found = read_json(text.partition("\n")[2])
    files = [*found.get("sstFiles", ()), *found.get("logFiles", ())]
    return [str(f.get("dfsSstFileName") or f.get("dfsLogFileName")) for f in files]


def _has(folder: Path, name: str) -> bool:
    return (folder / "SSTs" / name).is_file() or (folder / "logs" / name).is_file()


def _partitions(folder: Path) -> Iterator[str]:
    """Yield the operators of which a partition's folder is not there at all."""
    for operator in _numbered(folder / "state"):
        said = _partition_count(operator)
        there = {p.name for p in _numbered(operator)}
        absent = [n for n in range(said or 0) if str(n) not in there]
        if absent:
            yield (
                f"state/{operator.name} has no folder for partition {absent[0]} (of "
                f"{plural(said or 0, 'partition')})"
            )


def _partition_count(operator: Path) -> int | None:
    try:
        text = _metadata_file(operator).read_text().partition("\n")[2]
        stores = read_json(text)["stateStoreInfo"]
        return max((int(s["numPartitions"]) for s in stores), default=None)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _metadata_file(operator: Path) -> Path:
    later = operator / "_metadata" / "v2"
    numbers = batches(p.name for p in later.iterdir()) if later.is_dir() else []
    return later / str(numbers[-1]) if numbers else operator / "_metadata" / "metadata"


def _later_inputs(folder: Path, batch: int, live: Path) -> Iterator[str]:
    """Yield the files that a file source has taken after the batch, by their address."""
    for source, last in file_source_offsets(folder, batch):
        for path, number in _entries(live / "sources" / source).items():
            if number > last:
                yield path


def _entries(log: Path) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for file in log.iterdir() if log.is_dir() else ():
        if file.name.removesuffix(".compact").isdecimal():
            files = read_source_entry(file.read_bytes()).files
            found |= {path: number for path, number in files if number is not None}
    return found


def _is_there(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme not in ("", "file"):
        return True  # it is somewhere that is not asked here; the query will say
    return Path(unquote(parts.path)).exists()


def foreign_schema_files(folder: Path) -> Iterator[str]:
    """Yield other checkpoints on this machine that the state's metadata names schema files in.

    An address that is nowhere here is how the query's own machine sees the folder: it is right.
    """
    for file in folder.glob("state/*/_metadata/v2/*"):
        if file.name.isdecimal():
            for place, _ in _SCHEMA_FILE.findall(file.read_bytes()):
                path = Path(urlsplit(place.decode(errors="replace")).path)
                if path.is_dir() and path.resolve() != folder.resolve():
                    yield str(path)


def _numbered(folder: Path) -> list[Path]:
    return sorted((p for p in _folders(folder) if p.name.isdecimal()), key=lambda p: int(p.name))


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
