"""Read a checkpoint's files into facts; a broken file costs a warning, never the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from headgate.model.version import CheckpointDamage, Progress
from headgate.parse.spark.checkpoint.commit_log import CommitLog, read_commit
from headgate.parse.spark.checkpoint.edited_files import (
    log_faults,
    offset_faults,
    source_faults,
    state_faults,
)
from headgate.parse.spark.checkpoint.offset_log import OffsetLog, read_offsets
from headgate.parse.spark.checkpoint.reader import Reader, batches
from headgate.parse.spark.checkpoint.source_log import SourceEntry, read_source_entry
from headgate.parse.spark.checkpoint.state_files import LoggedOperator, read_operators
from headgate.text.engine_times import iso
from headgate.text.json_text import read_json
from headgate.text.numbers import plural

_KNOWN = frozenset(("metadata", "offsets/", "commits/", "sources/", "state/"))
_MOST = 3


def log_warnings(reader: Reader, logged: Sequence[int], committed: Sequence[int]) -> list[str]:
    """Return a sentence for each thing that is not as Spark leaves it."""
    out = []
    if "metadata" not in reader.listing:
        out.append(f"{reader.source}/metadata is missing")
    if not logged:
        out.append(f"{reader.source}/offsets contains no batch")
    for folder, numbers in (("offsets", logged), ("commits", committed)):
        out.extend(_gaps(f"{reader.source}/{folder}", numbers))
        out.extend(_foreign(reader, folder, numbers))
    if logged and committed and committed[-1] > logged[-1]:
        out.append(
            f"{reader.source}/commits has batch {committed[-1]}, but {reader.source}/offsets"
            f" ends at {logged[-1]}"
        )
    out.extend(_unknown_files(reader))
    return out


def _gaps(log: str, numbers: Sequence[int]) -> Iterator[str]:
    """Name the batches that lack; a query that tracks its progress asynchronously leaves some."""
    gaps = [(a + 1, b - 1) for a, b in pairwise(numbers) if b > a + 1]
    if gaps:
        shown = [str(a) if a == b else f"{a} to {b}" for a, b in gaps[:_MOST]]
        more = f", and has {plural(len(gaps) - _MOST, 'more gap')}" if len(gaps) > _MOST else ""
        is_one = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
        yield f"{log} lacks {'batch' if is_one else 'batches'} {', '.join(shown)}{more}"


def _foreign(reader: Reader, folder: str, numbers: Sequence[int]) -> Iterator[str]:
    known = set(map(str, numbers))
    names = [n for n in reader.below(folder) if n not in known]
    if names:
        yield f"{reader.source}/{folder} contains files that aren't batches: {_listed(names)}"


def _unknown_files(reader: Reader) -> Iterator[str]:
    """Yield a warning that names what isn't part of a checkpoint, for instance another checkpoint.

    Headgate doesn't read these files.
    """
    top = {p for p in reader.listing if "/" not in p.rstrip("/")} - _KNOWN
    if top:
        listed = _listed(sorted(top))
        yield f"{reader.source} contains files that aren't part of a checkpoint: {listed}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(n.rstrip("/")[:80] for n in names[:_MOST])
    return shown + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


__all__ = [
    "Checkpoint",
    "LoggedOperator",
    "LoggedSource",
    "batches",
    "is_checkpoint",
    "read_checkpoint",
    "read_offsets",
]
_FOLDERS = frozenset(("offsets", "commits", "sources", "state"))
_LOGS = frozenset(("offsets", "commits", "state"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSource:
    """One entry of the offset log: a position, or a name in a v2 log; offsets as JSON.

    `advanced` says whether the newest logged batch took data from it, None if the previous batch is
    missing. `planned` are the newest logged offsets, also of an uncommitted batch. `format` is
    `file` if the source's own log shows it, else None.
    """

    position: int
    name: str | None = None
    offsets: Any = None
    start: Any = None
    advanced: bool | None = None
    planned: Any = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything that a checkpoint says; `sources` and `operators` are None where it can't.

    `log_version` is the offset log's (2 is by name).
    """

    query_id: str | None = None
    log_version: int | None = None
    pinned: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[LoggedSource, ...] | None = None
    operators: tuple[LoggedOperator, ...] | None = None
    progress: Progress | None = None
    warnings: tuple[str, ...] = ()
    faults: tuple[CheckpointDamage, ...] = ()


def is_checkpoint(names: Iterable[str]) -> bool:
    """Whether a folder's direct entries are those of a checkpoint, also of one that lacks a log."""
    found = set(names)
    return bool(found & _LOGS) and len(found & {*_FOLDERS, "metadata"}) > 1


def read_checkpoint(
    files: Mapping[str, bytes], listing: Iterable[str] = (), *, source: str
) -> Checkpoint:
    """Return what the files say.

    `files` maps paths relative to the checkpoint to contents, `listing` names further files that
    are there (a folder's name ends with a slash); `source` is how a warning calls the checkpoint.
    """
    reader = Reader(files, frozenset(listing) | files.keys(), source)
    logged, committed = (batches(reader.below(d)) for d in ("offsets", "commits"))
    last = committed[-1] if committed else None
    newest = _newest(reader, logged)
    done = _newest(reader, [b for b in logged if last is not None and b <= last])
    commit = reader.read(f"commits/{last}", read_commit) if last is not None else None
    log = newest[1] if newest else None
    sources = _sources(reader, done[1] if done else log, log)
    if sources is not None and newest is not None:
        sources = _advanced(reader, sources, *newest)
    pinned = {k: str(v) for k, v in (log.metadata.get("conf", {}) if log else {}).items()}
    operators = read_operators(reader, pinned, commit, started=log is not None)
    return Checkpoint(
        query_id=reader.read("metadata", lambda data: str(read_json(data)["id"])),
        log_version=log.version if log else None,
        pinned=pinned,
        sources=sources,
        operators=operators,
        progress=_progress(reader, logged, committed, commit, done),
        warnings=(*log_warnings(reader, logged, committed), *reader.warnings),
        faults=tuple(_faults(reader, logged, committed, log, operators, pinned)),
    )


def _faults(
    reader: Reader,
    logged: list[int],
    committed: list[int],
    log: OffsetLog | None,
    operators: tuple[LoggedOperator, ...] | None,
    pinned: Mapping[str, str],
) -> Iterator[CheckpointDamage]:
    yield from log_faults(reader, logged, committed)
    if log is not None:
        yield from offset_faults(reader, logged, log)
        yield from source_faults(reader, log)
    yield from state_faults(reader, operators or (), pinned, committed)


def _newest(reader: Reader, numbers: list[int]) -> tuple[int, OffsetLog] | None:
    """Return the newest batch whose file can be read, of those that were read."""
    for batch in reversed(numbers):
        if log := reader.read(f"offsets/{batch}", read_offsets):
            return batch, log
    return None


def _sources(
    reader: Reader, log: OffsetLog | None, newest: OffsetLog | None
) -> tuple[LoggedSource, ...] | None:
    if log is None:
        return None
    planned = newest.offsets if newest and len(newest.offsets) == len(log.offsets) else ()
    out = []
    for position, (name, offsets) in enumerate(log.offsets):
        entry = _source_entry(reader, name or str(position))
        is_files = (entry is not None and entry.is_files) or _is_file_offset(offsets)
        out.append(
            LoggedSource(
                position=position,
                name=None if name is None or name.isdecimal() else name,
                offsets=offsets,
                start=entry.start if entry else None,
                planned=planned[position][1] if planned else offsets,
                format="file" if is_files else None,
            )
        )
    return tuple(out)


def _source_entry(reader: Reader, folder: str) -> SourceEntry | None:
    """Return the first file of a source's log, else the newest one that can be read."""
    base = f"sources/{folder}"
    if entry := reader.read(f"{base}/0", read_source_entry):
        return entry
    for name in reversed(reader.below(base)):
        # A compacted log may be huge: only its beginning was read.
        read = partial(read_source_entry, is_cut=name.endswith(".compact"))
        entry = reader.read(f"{base}/{name}", read)
        if entry:
            return entry
    return None


def _is_file_offset(offsets: Any) -> bool:
    return isinstance(offsets, dict) and offsets.keys() == {"logOffset"}


def _advanced(
    reader: Reader, sources: tuple[LoggedSource, ...], batch: int, log: OffsetLog
) -> tuple[LoggedSource, ...]:
    """Say of each source whether the newest logged batch moved its offset; of batch 0, any does."""
    before = reader.read(f"offsets/{batch - 1}", read_offsets) if batch > 0 else None
    if before is None and batch > 0:
        return sources
    old = before.offsets if before else tuple((name, None) for name, _ in log.offsets)
    if len(old) != len(log.offsets) or len(sources) != len(old):
        if log.version == 1 and len(old) != len(log.offsets):
            # No query goes on with another number of them: one of the files is broken off.
            reader.warn(
                f"{reader.source}/offsets/{batch} has {plural(len(log.offsets), 'source')}, but "
                f"offsets/{batch - 1} has {len(old)}"
            )
        return sources
    moved = [was[1] != now[1] for was, now in zip(old, log.offsets, strict=True)]
    return tuple(replace(s, advanced=m) for s, m in zip(sources, moved, strict=True))


def _progress(
    reader: Reader,
    logged: list[int],
    committed: list[int],
    commit: CommitLog | None,
    done: tuple[int, OffsetLog] | None,
) -> Progress | None:
    if not logged and not committed:
        return None
    last = reader.read(f"offsets/{logged[-1]}", read_offsets) if logged else None
    before = reader.read(f"offsets/{logged[-2]}", read_offsets) if len(logged) > 1 else None
    mark = commit.next_watermark_ms if commit else None
    if mark is None and last is not None:
        mark = last.watermark_ms
    known = done if done else (logged[-1], last) if last else None
    at_ms = known[1].at_ms if known else None
    return Progress(
        last_offset_batch=logged[-1] if logged else None,
        last_commit_batch=committed[-1] if committed else None,
        watermark_ms=mark,
        first_retained_batch=logged[0] if logged else None,
        last_batch_empty=last.offsets == before.offsets if last and before else None,
        offsets_batch=known[0] if known else None,
        offsets_at=iso(at_ms) if at_ms else None,
        offsets_from="checkpoint" if known else None,
        commit_log_version=commit.version if commit else None,
    )
