"""Read a checkpoint's files into facts; a broken file costs a warning, never the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from headgate.model.version import Progress, StateStore
from headgate.parse.spark.state_schema import Family, read_families

T = TypeVar("T")
_BATCH = re.compile(r"^(?P<batch>\d+)$")
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ENCODING = "spark.sql.streaming.stateStore.encodingFormat"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSource:
    """One entry of the offset log: a position, or a name in a v2 log; offsets as JSON.

    `advanced` says whether the newest logged batch took data from it, None where the batch before
    is not there any more.
    """

    position: int
    name: str | None = None
    offsets: Any = None
    start: Any = None
    advanced: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOperator:
    """What `state/N` holds: the engine's word for the operator, its stores, its properties."""

    operator_id: int
    name: str | None = None
    stores: tuple[StateStore, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything that a checkpoint says; `sources` and `operators` are None where it can't."""

    query_id: str | None = None
    log_version: int | None = None
    pinned: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[LoggedSource, ...] | None = None
    operators: tuple[LoggedOperator, ...] | None = None
    progress: Progress | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OffsetLog:
    """One file of the offset log."""

    version: int
    metadata: Mapping[str, Any]
    offsets: tuple[tuple[str | None, Any], ...]


@dataclass(slots=True)
class _Reader:
    """The files by relative path, and what went wrong while they were read."""

    files: Mapping[str, bytes]
    listing: frozenset[str]
    source: str
    warnings: list[str] = field(default_factory=list)

    def read(self, path: str, parse: Callable[[bytes], T]) -> T | None:
        """Parse one file; None with a warning where it is missing, half-written or corrupt."""
        data = self.files.get(path)
        if data is None:
            return None
        try:
            return parse(data)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as e:
            reason = " ".join(str(e).split())[:120] or type(e).__name__
            self.warnings.append(f"{self.source}/{path} can't be read: {reason}")
            return None


def is_checkpoint(names: Iterable[str]) -> bool:
    """Whether a folder's direct entries are those of a checkpoint."""
    found = set(names)
    return "offsets" in found and bool(found & {"metadata", "commits", "sources", "state"})


def batches(names: Iterable[str]) -> list[int]:
    """Return the batch numbers among a log's file names, ascending; other names are passed over."""
    return sorted(int(m["batch"]) for n in names if (m := _BATCH.match(n)))


def read_checkpoint(
    files: Mapping[str, bytes], listing: Iterable[str] = (), *, source: str
) -> Checkpoint:
    """Return what the files say.

    `files` maps paths relative to the checkpoint to contents, `listing` names further files that
    are there; `source` is how a warning calls the checkpoint.
    """
    reader = _Reader(files, frozenset(listing) | files.keys(), source)
    offset_batches, commit_batches = (_log(reader, d) for d in ("offsets", "commits"))
    committed = commit_batches[-1] if commit_batches else None
    newest = _newest(reader, offset_batches)
    done = _newest(reader, [b for b in offset_batches if committed is not None and b <= committed])
    log = newest[1] if newest else None
    sources = _sources(reader, done[1] if done else log)
    if sources is not None and newest is not None:
        sources = _advanced(reader, sources, *newest)
    pinned = {k: str(v) for k, v in (log.metadata.get("conf", {}) if log else {}).items()}
    return Checkpoint(
        query_id=reader.read("metadata", lambda data: str(json.loads(data)["id"])),
        log_version=log.version if log else None,
        pinned=pinned,
        sources=sources,
        operators=_operators(reader, pinned, started=log is not None),
        progress=_progress(reader, offset_batches, commit_batches),
        warnings=(*_missing(reader, offset_batches), *reader.warnings),
    )


def _missing(reader: _Reader, offset_batches: list[int]) -> list[str]:
    out = []
    if "metadata" not in reader.listing:
        out.append(f"{reader.source}/metadata is missing")
    if not offset_batches:
        out.append(f"{reader.source}/offsets holds no batch")
    return out


def _log(reader: _Reader, folder: str) -> list[int]:
    prefix = f"{folder}/"
    return batches(p[len(prefix) :] for p in reader.listing if p.startswith(prefix))


def _newest(reader: _Reader, numbers: list[int]) -> tuple[int, OffsetLog] | None:
    for batch in reversed(numbers):
        if log := reader.read(f"offsets/{batch}", read_offsets):
            return batch, log
    return None


def read_offsets(data: bytes) -> OffsetLog:
    """Return one file of the offset log, v1 (by position) or v2 (by name).

    Raises ValueError where it is neither.
    """
    lines = data.decode().splitlines()
    if not lines or lines[0] not in ("v1", "v2"):
        raise ValueError("no version in its first line")
    if len(lines) < 2:
        raise ValueError("it was not written to its end")
    version = int(lines[0][1:])
    metadata = json.loads(lines[1] or "{}")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("conf", {}), dict):
        raise ValueError("its metadata is no object")
    read = _named_offsets if version == 2 else _offsets
    return OffsetLog(version, metadata, tuple(read(line) for line in lines[2:]))


def _offsets(line: str) -> tuple[str | None, Any]:
    return None, None if line == "-" else _json(line)


def _named_offsets(line: str) -> tuple[str | None, Any]:
    name, _, offsets = line.partition(":")
    return name, None if offsets == "-" else _json(offsets)


def _json(text: str) -> Any:
    """Offsets are a source's own format: most write JSON, which a half-written line is not."""
    try:
        return json.loads(text)
    except ValueError:
        if text[:1] in ("{", "["):
            raise
        return text


def _sources(reader: _Reader, log: OffsetLog | None) -> tuple[LoggedSource, ...] | None:
    if log is None:
        return None
    return tuple(
        LoggedSource(
            position=position,
            name=None if name is None or name.isdigit() else name,
            offsets=offsets,
            start=reader.read(f"sources/{name or position}/0", _start),
        )
        for position, (name, offsets) in enumerate(log.offsets)
    )


def _advanced(
    reader: _Reader, sources: tuple[LoggedSource, ...], batch: int, log: OffsetLog
) -> tuple[LoggedSource, ...]:
    """Say of each source whether the newest logged batch moved its offset; of batch 0, any does."""
    before = reader.read(f"offsets/{batch - 1}", read_offsets) if batch > 0 else None
    if before is None and batch > 0:
        return sources
    old = before.offsets if before else tuple((name, None) for name, _ in log.offsets)
    if len(old) != len(log.offsets) or len(sources) != len(old):
        return sources
    moved = [was[1] != now[1] for was, now in zip(old, log.offsets, strict=True)]
    return tuple(replace(s, advanced=m) for s, m in zip(sources, moved, strict=True))


def _start(data: bytes) -> Any:
    """Return a source's first offsets; a file source logs its files there, which are none."""
    lines = data.decode().lstrip("\0").splitlines()
    if not lines or not lines[0].startswith("v"):
        raise ValueError("no version in its first line")
    found = _json(lines[1]) if len(lines) > 1 else None
    return None if isinstance(found, dict) and "path" in found else found


def _progress(reader: _Reader, offsets: list[int], commits: list[int]) -> Progress | None:
    if not offsets and not commits:
        return None
    last = reader.read(f"offsets/{offsets[-1]}", read_offsets) if offsets else None
    before = reader.read(f"offsets/{offsets[-2]}", read_offsets) if len(offsets) > 1 else None
    mark = reader.read(f"commits/{commits[-1]}", _next_watermark) if commits else None
    if mark is None and last is not None:
        mark = last.metadata.get("batchWatermarkMs")
    return Progress(
        last_offset_batch=offsets[-1] if offsets else None,
        last_commit_batch=commits[-1] if commits else None,
        watermark_ms=mark if isinstance(mark, int) else None,
        first_retained_batch=offsets[0] if offsets else None,
        last_batch_empty=last.offsets == before.offsets if last and before else None,
    )


def _next_watermark(data: bytes) -> int | None:
    lines = data.decode().splitlines()
    if not lines or not re.match(r"^v\d+$", lines[0]):
        raise ValueError("no version in its first line")
    found = json.loads(lines[1]) if len(lines) > 1 else {}
    return found.get("nextBatchWatermarkMs") if isinstance(found, dict) else None


def _operators(
    reader: _Reader, pinned: Mapping[str, str], *, started: bool
) -> tuple[LoggedOperator, ...] | None:
    """Return the stateful operators; none is certain only where the query has run."""
    numbers = sorted({int(p.split("/")[1]) for p in reader.listing if re.match(r"^state/\d+/", p)})
    if not numbers:
        return () if started else None
    return tuple(_operator(reader, number, pinned) for number in numbers)


def _operator(reader: _Reader, number: int, pinned: Mapping[str, str]) -> LoggedOperator:
    metadata = _operator_metadata(reader, number) or {}
    families = _families(reader, number)
    stores = _stores(number, metadata.get("stateStoreInfo"), families, pinned)
    name = (metadata.get("operatorInfo") or {}).get("operatorName")
    text = metadata.get("operatorPropertiesJson") or "{}"
    properties = _json(text) if isinstance(text, str) else {}
    return LoggedOperator(
        operator_id=number,
        name=name,
        stores=stores,
        properties=properties if isinstance(properties, dict) else {},
    )


def _operator_metadata(reader: _Reader, number: int) -> dict[str, Any] | None:
    """Return `state/N/_metadata`: one file in v1, one a batch in v2, of which the newest counts."""
    prefix = f"state/{number}/_metadata/v2/"
    newest = batches(p[len(prefix) :] for p in reader.listing if p.startswith(prefix))
    for batch in reversed(newest):
        if found := reader.read(f"{prefix}{batch}", _metadata):
            return found
    return reader.read(f"state/{number}/_metadata/metadata", _metadata)


def _metadata(data: bytes) -> dict[str, Any]:
    lines = data.decode().splitlines()
    if len(lines) < 2 or not lines[0].startswith("v"):
        raise ValueError("no version in its first line")
    found = json.loads(lines[1])
    if not isinstance(found, dict):
        raise ValueError("no object in its second line")
    said = found.get("operatorInfo") or {}
    if not isinstance(said, dict) or not isinstance(said.get("operatorName"), str | None):
        raise ValueError("its operatorInfo is no object with a name")
    return found


def _families(reader: _Reader, number: int) -> dict[str, tuple[Family, ...]]:
    """Return the column families by store: v1 and v2 files in a partition, v3 beside them."""
    out: dict[str, tuple[Family, ...]] = {}
    partition = re.compile(rf"^state/{number}/\d+/(?:(?P<store>[^/]+)/)?_metadata/schema$")
    for path in sorted(reader.listing):
        if match := partition.match(path):
            store = match["store"] or "default"
            if store not in out and (found := reader.read(path, read_families)):
                out[store] = found
    beside = re.compile(rf"^state/{number}/_stateSchema/(?P<store>[^/]+)/(?P<batch>\d+)_[^/.]+$")
    newest = sorted(
        (int(m["batch"]), m["store"], p) for p in reader.listing if (m := beside.match(p))
    )
    for _, store, path in newest:
        if found := reader.read(path, read_families):
            out[store] = found
    return out


def _stores(
    number: int,
    infos: Any,
    families: Mapping[str, tuple[Family, ...]],
    pinned: Mapping[str, str],
) -> tuple[StateStore, ...]:
    listed = infos if isinstance(infos, list) else []
    said = {str(i.get("storeName")): i for i in listed if isinstance(i, dict)}
    partitions = pinned.get("spark.sql.shuffle.partitions", "")
    out = []
    for store in [*said, *(s for s in sorted(families) if s not in said)]:
        info = said.get(store, {})
        for family in families.get(store) or (Family("default", None, None),):
            out.append(
                StateStore(
                    store=store if family.name == "default" else family.name,
                    operator_id=number,
                    key_schema=family.key,
                    value_schema=family.value,
                    partitions=info.get("numPartitions") or _int(partitions),
                    prefix_columns=info.get("numColsPrefixKey"),
                    provider=pinned.get(_PROVIDER, "").rpartition(".")[2] or None,
                    encoding=pinned.get(_ENCODING, "").lower() or None,
                    proven=True,
                )
            )
    return tuple(out)


def _int(text: str) -> int | None:
    return int(text) if text.isdigit() else None
