"""Read what a checkpoint's `state` folder says of operators and stores, without the state.

It has the operators' metadata and the schemas. The names of one partition's files show the
provider: `V.delta` and `V.snapshot` are the HDFS-backed one's, `V.zip` and `SSTs` RocksDB's,
`V.changelog` RocksDB's with changelog checkpointing; `V_<id>` is checkpoint format 2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.model.version import StateStore
from headgate.parse.spark.checkpoint.commit_log import CommitLog
from headgate.parse.spark.checkpoint.offset_log import versioned
from headgate.parse.spark.checkpoint.reader import Reader, batches
from headgate.parse.spark.checkpoint.state_schema import (
    Family,
    history,
    listed_files,
    read_families,
)
from headgate.text.json_text import read_json, whole

HDFS = "HDFSBackedStateStoreProvider"
ROCKSDB = "RocksDBStateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
_SHUFFLE = "spark.sql.shuffle.partitions"
_OPERATOR = re.compile(r"state/([0-9]{1,9})/", re.ASCII)
_STATE_FILE = re.compile(
    r"(?:^|/)[0-9]+(?P<id>_[0-9a-f-]{36}(?:_[0-9a-f-]{36})?)?\.(?P<kind>delta|snapshot|zip|changelog)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOperator:
    """What `state/N` holds: the engine's word for the operator, its stores, its properties.

    `history` is what `schema_history.history` says of the schemas that were valid before.
    """

    operator_id: int
    name: str | None = None
    stores: tuple[StateStore, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateFolderFacts:
    """What the file names below `state/N` show; None if no file of state was seen."""

    partitions: int | None = None
    provider: str | None = None
    changelog: bool | None = None
    has_ids: bool | None = None


def read_operators(
    reader: Reader, pinned: Mapping[str, str], commit: CommitLog | None, *, started: bool
) -> tuple[LoggedOperator, ...] | None:
    """Return the stateful operators; none is certain only where the query has run."""
    paths: dict[int, list[str]] = {}
    for path in reader.listing:
        if match := _OPERATOR.match(path):
            paths.setdefault(int(match[1]), []).append(path[match.end() :])
    if not paths:
        return () if started else None
    return tuple(
        _operator(reader, number, sorted(paths[number]), pinned, commit) for number in sorted(paths)
    )


def _operator(
    reader: Reader,
    number: int,
    names: list[str],
    pinned: Mapping[str, str],
    commit: CommitLog | None,
) -> LoggedOperator:
    metadata = _metadata(reader, number, names) or {}
    seen = _seen(names)
    _check_provider(reader, number, seen, pinned)
    made = _Stores(number, seen, pinned, _format(number, seen, commit))
    infos = metadata.get("stateStoreInfo")
    beside = _beside(reader, number, listed_files(names, infos))
    families = _in_partitions(reader, number, names) | {s: f[-1] for s, f in beside.items()}
    stores = made.all(infos, families)
    _check_partitions(reader, number, seen, stores)
    text = metadata.get("operatorPropertiesJson") or "{}"
    properties = read_json(text) if isinstance(text, str) else {}
    return LoggedOperator(
        operator_id=number,
        name=(metadata.get("operatorInfo") or {}).get("operatorName"),
        stores=stores,
        properties=properties if isinstance(properties, dict) else {},
        history=history(beside.get("default", ())),
    )


def _seen(names: list[str]) -> StateFolderFacts:
    """Return what the file names show; those of one partition represent all partitions."""
    folders = {n.partition("/")[0] for n in names}
    count = sum(f.isascii() and f.isdecimal() for f in folders)
    files = [m for n in names if (m := _STATE_FILE.search(n))]
    kinds = {m["kind"] for m in files}
    provider = None
    if kinds:
        provider = HDFS if kinds & {"delta", "snapshot"} else ROCKSDB
    if {"delta", "zip"} <= kinds or {"delta", "changelog"} <= kinds:
        provider = None
    return StateFolderFacts(
        partitions=count or None,
        provider=provider,
        changelog="changelog" in kinds if provider == ROCKSDB else None,
        has_ids=any(m["id"] for m in files) if files else None,
    )


def _format(number: int, seen: StateFolderFacts, commit: CommitLog | None) -> int | None:
    """Return the format of the state's checkpoints: 2 where they have ids."""
    if commit is not None and number in (commit.state_ids or {}):
        return 2
    return None if seen.has_ids is None else 2 if seen.has_ids else 1


def _check_provider(
    reader: Reader, number: int, seen: StateFolderFacts, pinned: Mapping[str, str]
) -> None:
    said = pinned.get(_PROVIDER, "").rpartition(".")[2]
    if seen.provider and said in (HDFS, ROCKSDB) and said != seen.provider:
        reader.warn(
            f"{reader.source}/offsets names the state store provider {said}, but "
            f"{reader.source}/state/{number} has files from {seen.provider}"
        )


def _check_partitions(
    reader: Reader, number: int, seen: StateFolderFacts, stores: tuple[StateStore, ...]
) -> None:
    said = max((s.partitions or 0 for s in stores), default=0)
    if said and seen.partitions and seen.partitions > said:
        reader.warn(
            f"{reader.source}/state/{number} has folders of {seen.partitions} partitions, but "
            f"`_metadata` says {said}"
        )


def _metadata(reader: Reader, number: int, names: list[str]) -> dict[str, Any] | None:
    """Return `state/N/_metadata`: one file in v1, one a batch in v2, of which the newest counts."""
    prefix = "_metadata/v2/"
    newest = batches(n[len(prefix) :] for n in names if n.startswith(prefix))
    for batch in reversed(newest):
        if found := reader.read(f"state/{number}/{prefix}{batch}", _read_metadata):
            return found
    return reader.read(f"state/{number}/_metadata/metadata", _read_metadata)


def _read_metadata(data: bytes) -> dict[str, Any]:
    _, lines = versioned(data)
    if not lines:
        raise ValueError("the file is incomplete")
    found = read_json(lines[0])
    if not isinstance(found, dict):
        raise ValueError("the second line isn't a JSON object")
    said = found.get("operatorInfo") or {}
    if not isinstance(said, dict) or not isinstance(said.get("operatorName"), str | None):
        raise ValueError("operatorInfo isn't a JSON object with `operatorName`")
    if isinstance(text := found.get("operatorPropertiesJson"), str):
        read_json(text or "{}")
    return found


def _in_partitions(reader: Reader, number: int, names: list[str]) -> dict[str, tuple[Family, ...]]:
    """Return the column families by store, from files of v1 and v2 in a partition."""
    out: dict[str, tuple[Family, ...]] = {}
    partition = re.compile(r"[0-9]+/(?:(?P<store>[^/]+)/)?_metadata/schema")
    for name in names:
        if match := partition.fullmatch(name):
            store = match["store"] or "default"
            path = f"state/{number}/{name}"
            if store not in out and (found := reader.read(path, read_families)):
                out[store] = found
    return out


def _beside(
    reader: Reader, number: int, files: Mapping[str, list[str]]
) -> dict[str, tuple[tuple[Family, ...], ...]]:
    """Return the column families of each schema file of v3 by store, the newest file last."""
    out = {}
    for store, names in files.items():
        read = (reader.read(f"state/{number}/{name}", read_families) for name in names)
        if found := tuple(f for f in read if f):
            out[store] = found
    return out


@dataclass(frozen=True, slots=True)
class _Stores:
    """What all stores of one operator share."""

    number: int
    seen: StateFolderFacts
    pinned: Mapping[str, str]
    format: int | None

    def all(self, infos: Any, families: Mapping[str, tuple[Family, ...]]) -> tuple[StateStore, ...]:
        """Return one store for each column family of each store."""
        listed = infos if isinstance(infos, list) else []
        said = {str(i.get("storeName")): i for i in listed if isinstance(i, dict)}
        return tuple(
            self.one(store, family, said.get(store, {}))
            for store in [*said, *(s for s in sorted(families) if s not in said)]
            for family in families.get(store) or (Family("default", None, None),)
        )

    def one(self, store: str, family: Family, info: Mapping[str, Any]) -> StateStore:
        """Return one store; a column family other than `default` has its own name."""
        shuffle = self.pinned.get(_SHUFFLE, "")
        pinned = int(shuffle) if re.fullmatch("[0-9]{1,9}", shuffle) else None
        return StateStore(
            store=store if family.name == "default" else family.name,
            operator_id=self.number,
            key_schema=family.key,
            value_schema=family.value,
            partitions=whole(info.get("numPartitions")) or pinned or self.seen.partitions,
            prefix_columns=whole(info.get("numColsPrefixKey")),
            provider=self.pinned.get(_PROVIDER, "").rpartition(".")[2] or self.seen.provider,
            encoding=self.pinned.get(_ENCODING, "").lower() or None,
            changelog=self.seen.changelog,
            checkpoint_format=self.format,
            proven=True,
        )
