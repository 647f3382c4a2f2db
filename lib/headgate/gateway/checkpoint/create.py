"""Make a checkpoint that holds nothing but the starting offsets of its sources.

Spark 4.2 starts such a query at batch 0, with its own settings and empty state: a Kafka source
takes its first offsets from `sources/N/0` if that is there, whatever `startingOffsets` says, and a
file source reads no file that its own log names. Spark fails with
STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY if the logs have a batch and the state is
missing, so the logs have none.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headgate.errors import EvidenceError, StepError
from headgate.gateway.checkpoint.folders import make_like, own_like, remove_tree, sync
from headgate.parse.spark.checkpoint.offset_log import (
    OffsetLog,
    offset_json,
    read_offsets,
    versioned,
)
from headgate.parse.spark.checkpoint.source_log import READ_BEFORE
from headgate.reprocess.checkpoint.source_offsets import (
    Beginning,
    QueryPosition,
    SourceKind,
    SourcePosition,
)
from headgate.text.json_text import read_json

_RESTORE = "Restore the file from a copy, or use `headgate plan from-scratch`"


def read_position(folder: Path) -> QueryPosition | None:
    """Return where the checkpoint's sources are, None where there is no checkpoint.

    EvidenceError names a log file that is missing or broken.
    """
    if not (folder / "metadata").is_file():
        return None
    logged, committed = _numbers(folder / "offsets"), _numbers(folder / "commits")
    batch = max(committed, default=None)
    begun = max((n for n in logged if batch is None or n > batch), default=None)
    log = _log(folder, batch) if batch is not None else None
    return QueryPosition(
        batch=batch,
        begun=begun,
        sources=tuple(_after(folder, log) if log else _first(folder)),
        watermark_ms=_watermark(folder, batch, log),
        operators=_operators(folder),
        pinned={k: str(v) for k, v in (log.metadata.get("conf", {}) if log else {}).items()},
    )


def _log(folder: Path, batch: int) -> OffsetLog:
    log: OffsetLog = _parsed(folder / "offsets" / str(batch), read_offsets)
    return log


def _after(folder: Path, log: OffsetLog) -> Iterator[SourcePosition]:
    for number, (name, offsets) in enumerate(log.offsets):
        own = str(number) if name is None else name
        yield _position(folder, own, offsets) if offsets is not None else _untouched(folder, own)


def _first(folder: Path) -> Iterator[SourcePosition]:
    """Yield the sources of a query that has not committed a batch: they are at their beginning."""
    sources = folder / "sources"
    for name in sorted(p.name for p in sources.iterdir()) if sources.is_dir() else ():
        if not name.startswith("."):
            yield _untouched(folder, name)


def _untouched(folder: Path, name: str) -> SourcePosition:
    """Return a source that no committed batch has taken anything of."""
    first = folder / "sources" / name / "0"
    if not first.is_file():
        return SourcePosition(name=name, kind=SourceKind.OTHER)
    lines = _parsed(first, _lines)
    value = _offsets_or_none(lines[0]) if lines else None
    if isinstance(value, dict) and {"path", "batchId"} <= value.keys():
        return SourcePosition(name=name, kind=SourceKind.FILES)
    return _position(folder, name, value)


def _position(folder: Path, name: str, value: Any) -> SourcePosition:
    if isinstance(value, dict) and value.keys() == {"logOffset"}:
        entry = int(value["logOffset"])
        files = sum(1 for _ in files_read(folder, name, entry, None))
        return SourcePosition(name=name, kind=SourceKind.FILES, entry=entry, files=files)
    if _is_kafka(value):
        offsets = {t: {int(p): int(o) for p, o in parts.items()} for t, parts in value.items()}
        return SourcePosition(name=name, kind=SourceKind.KAFKA, offsets=offsets)
    return SourcePosition(name=name, kind=SourceKind.OTHER)


def _is_kafka(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            isinstance(parts, dict)
            and all(p.isdecimal() and type(o) is int for p, o in parts.items())
            for parts in value.values()
        )
    )


def files_read(folder: Path, name: str, entry: int, before: int | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file source's log up to `entry`, of files older than `before` (ms)."""
    for line in _log_lines(folder / "sources" / name, entry):
        value = _offsets_or_none(line)
        if not isinstance(value, dict) or not isinstance(value.get("path"), str):
            raise EvidenceError(
                f"an entry of {folder / 'sources' / name} has no file path: {line[:80]!r}. "
                f"{_RESTORE}"
            )
        later = entry < value["batchId"] != READ_BEFORE
        if not later and (before is None or int(value["timestamp"]) < before):
            yield value


def _log_lines(log: Path, entry: int) -> Iterator[str]:
    """Yield the lines of the entries up to `entry`, and perhaps later ones of the same file.

    EvidenceError where an entry is gone and no compacted one after it has its lines.
    """
    compacts = _numbers(log, ".compact")
    compact = max((n for n in compacts if n <= entry), default=-1)
    files = [f"{compact}.compact"] if compact >= 0 else []
    files += [str(n) for n in range(compact + 1, entry + 1)]
    gone = [name for name in files if not (log / name).is_file()]
    if gone:
        later = min((n for n in compacts if n > entry), default=None)
        if later is None:
            raise EvidenceError(
                f"{log / gone[0]} is missing, so Headgate can't list the files that the "
                f"query has read. {_RESTORE}"
            )
        files = [f"{later}.compact"]
    for name in files:
        yield from _parsed(log / name, _lines)


def create_checkpoint(
    draft: Path, like: Path, query_id: str, beginnings: Sequence[Beginning]
) -> None:
    """Write the new checkpoint to `draft`, forced to disk; what an earlier try left goes first.

    `like` is the old one, which gives owner, rights, and the files that were read.
    """
    remove_tree(draft)
    try:
        make_like(draft, like)
        for name, data in content(like, query_id, beginnings).items():
            file = draft / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            shutil.copymode(like / "metadata", file)
            sync(file)
        own_like(draft, like)
        for folder in (*(p for p in draft.rglob("*") if p.is_dir()), draft, draft.parent):
            if folder not in (draft, draft.parent):
                shutil.copymode(like, folder)
            sync(folder)
    except OSError as error:
        raise StepError(f"{draft} could not be written: {error.strerror}") from error


def differs(folder: Path, like: Path, query_id: str, beginnings: Sequence[Beginning]) -> str | None:
    """Return what is not as `create_checkpoint` leaves it, read back from disk; None: nothing."""
    wanted = content(like, query_id, beginnings)
    if not folder.is_dir():
        return f"{folder} is missing"
    there = {
        str(p.relative_to(folder)): p
        for p in folder.rglob("*")
        if p.is_file() and not (p.name.startswith(".") and p.name.endswith(".crc"))
    }
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there:
            return f"{folder / name} is missing, although Headgate wrote this file"
        if name not in wanted:
            return f"{folder / name} was not written by this run"
        if there[name].read_bytes() != wanted[name]:
            return f"{folder / name} differs from the file that Headgate wrote"
    return None


def content(like: Path, query_id: str, beginnings: Sequence[Beginning]) -> Mapping[str, bytes]:
    """Return the files of the new checkpoint by their path in it."""
    found = {"metadata": _json({"id": query_id}).encode()}
    for one in beginnings:
        data = _kafka(one) if one.files_of is None else _files(like, one)
        if data is not None:
            found[f"sources/{one.name}/0"] = data
    return found


def _kafka(one: Beginning) -> bytes:
    # The byte before the version is Spark's own: 2.1 wanted one, and readers still skip it.
    offsets = {t: {str(p): o for p, o in parts.items()} for t, parts in one.offsets.items()}
    return b"\0v1\n" + _json(offsets).encode()


def _files(like: Path, one: Beginning) -> bytes | None:
    assert one.files_of is not None
    lines = [
        _json({**line, "batchId": READ_BEFORE})
        for line in files_read(like, one.files_of, one.entry, one.before)
    ]
    return "\n".join(["v1", *lines]).encode() if lines else None


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _watermark(folder: Path, batch: int | None, log: OffsetLog | None) -> int:
    if batch is None or log is None:
        return 0
    lines = _parsed(folder / "commits" / str(batch), _lines)
    commit = _offsets_or_none(lines[0]) if lines else None
    following = commit.get("nextBatchWatermarkMs") if isinstance(commit, dict) else None
    return max(int(following or 0), log.watermark_ms or 0)


def _operators(folder: Path) -> tuple[str, ...]:
    state = folder / "state"
    numbers = (
        sorted(int(p.name) for p in state.iterdir() if p.name.isdecimal())
        if (state.is_dir())
        else []
    )
    return tuple(_operator(state / str(n)) for n in numbers)


def _operator(folder: Path) -> str:
    """Return the operator's own word; that of transformWithState has a file for each batch."""
    files = [folder / "_metadata" / "metadata"]
    files += [folder / "_metadata" / "v2" / str(n) for n in _numbers(folder / "_metadata" / "v2")]
    try:
        lines = _lines(next(f for f in reversed(files) if f.is_file()).read_bytes())
        return str(read_json(lines[0])["operatorInfo"]["operatorName"])
    except (OSError, StopIteration, ValueError, KeyError, IndexError, TypeError):
        return "stateful operator"


def _numbers(folder: Path, suffix: str = "") -> list[int]:
    try:
        names = [p.name.removesuffix(suffix) for p in folder.iterdir() if p.name.endswith(suffix)]
    except OSError:
        return []
    return sorted(int(name) for name in names if name.isdecimal())


def _lines(data: bytes) -> list[str]:
    return [line for line in versioned(data.lstrip(b"\0"))[1] if line]


def _offsets_or_none(text: str) -> Any:
    try:
        return offset_json(text)
    except ValueError:
        return None


def _parsed(file: Path, read: Any) -> Any:
    try:
        return read(file.read_bytes())
    except OSError as error:
        raise EvidenceError(f"{file} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise EvidenceError(f"{file} is damaged: {error}. {_RESTORE}") from error
