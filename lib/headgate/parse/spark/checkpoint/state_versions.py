"""Find out from the names of a state store's files whether a version of it can be loaded.

Version V is the state after batch V-1; 0 is empty. It is loaded from the newest snapshot that is
not newer (`S.snapshot`, of RocksDB `S.zip`), and every change after that (`.delta`, of RocksDB
`.changelog`). With checkpoint format 2 a file is `V_<id>`: the commit of batch V-1 says which id
is right; a file with another id is what a failed attempt left. Source: Spark 4.2.0's
`HDFSBackedStateStoreProvider.loadMap`, `RocksDB.loadWithoutCheckpointId` and its sibling with ids.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

_FILE = re.compile(r"(?P<version>[0-9]+)(?:_(?P<id>[0-9a-f_-]+))?\.(?P<kind>\w+)", re.ASCII)
_SNAPSHOTS, _CHANGES = ("snapshot", "zip"), ("delta", "changelog")
_OF_VERSION = re.compile(
    rf"\.*(?P<version>[0-9]+)(?:_[0-9a-f_-]+)?\.(?:{'|'.join((*_SNAPSHOTS, *_CHANGES))})(?:\.|$)",
    re.ASCII,
)
_OF_ROCKSDB = ("changelog", "zip")
Ids = Mapping[int, Collection[str]]


@dataclass(frozen=True, slots=True)
class Needed:
    """The files that a version is loaded from: a `snapshot` or None, then `changes` in order.

    `missing` names the first file that is not there, None where all are.
    """

    snapshot: str | None = None
    changes: tuple[str, ...] = ()
    missing: str | None = None


def version_of(name: str) -> int | None:
    """Return the state's version that a file in a store's folder is of, None for other files.

    Checksums and drafts (`.12.delta.crc`, `12_<id>.zip.crc`) are of their file's version.
    """
    found = _OF_VERSION.match(name)
    return int(found["version"]) if found is not None else None


def needed(names: Iterable[str], version: int, ids: Ids | None = None) -> Needed:
    """Return what the version is loaded from, out of the names of one store's files.

    `ids` are the ids of each version in checkpoint format 2, of this partition's stores. If a
    version isn't in it, because its commit is gone, only its number is compared.
    """
    snapshots, changes = _by_version(names, ids)
    after: list[str] = []
    at = version
    while at > 0 and at not in snapshots:
        if at not in changes:
            return Needed(missing=_called(at, snapshots, changes, ids))
        after.append(changes[at])
        at -= 1
    return Needed(snapshots.get(at), tuple(reversed(after)))


def _by_version(names: Iterable[str], ids: Ids | None) -> tuple[dict[int, str], dict[int, str]]:
    snapshots: dict[int, str] = {}
    changes: dict[int, str] = {}
    for name in names:
        found = _FILE.fullmatch(name)
        if found is None or not _is_valid(int(found["version"]), found["id"], ids):
            continue
        kinds = {**dict.fromkeys(_SNAPSHOTS, snapshots), **dict.fromkeys(_CHANGES, changes)}
        kinds.get(found["kind"], {})[int(found["version"])] = name
    return snapshots, changes


def _is_valid(version: int, found: str | None, ids: Ids | None) -> bool:
    if found is None or ids is None:
        return (found is None) == (ids is None)
    return version not in ids or any(known in found for known in ids[version])


def _called(
    at: int, snapshots: Mapping[int, str], changes: Mapping[int, str], ids: Ids | None
) -> str:
    """Name the file that should be there, as its neighbours are named."""
    kinds = {n.rpartition(".")[2] for n in (*snapshots.values(), *changes.values())}
    if not kinds:
        # Without a neighbour nothing tells which provider wrote here.
        return f"the file of version {at}"
    change, snapshot = ("delta", "snapshot") if kinds & {"delta", "snapshot"} else _OF_ROCKSDB
    named = f"_{next(iter(ids[at]))}" if ids and ids.get(at) else ""
    return f"{at}{named}.{change} or {at}{named}.{snapshot}"
