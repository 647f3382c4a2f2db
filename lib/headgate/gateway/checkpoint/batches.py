"""Read the batches of a checkpoint on a local file system, and what each was at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from headgate.errors import EvidenceError
from headgate.gateway.checkpoint.folders import kafka_topics
from headgate.model.restore_points import LoggedBatch
from headgate.parse.spark.checkpoint.commit_log import CommitLog, read_commit
from headgate.parse.spark.checkpoint.offset_log import OffsetLog, read_offsets
from headgate.parse.spark.checkpoint.reader import batches
from headgate.parse.spark.checkpoint.source_log import read_source_entry

LOGS = ("offsets", "commits")
Found = TypeVar("Found")


def read_batches(folder: Path) -> tuple[LoggedBatch, ...]:
    """Return the batches that are planned and done, oldest first.

    A running query removes its oldest batches meanwhile: those are left out. EvidenceError names a
    file of either log that can't be read to its end.
    """
    done = set(logged(folder, "commits"))
    planned = (n for n in logged(folder, "offsets") if n in done)
    return tuple(batch for _, batch in _there(planned, lambda n: _batch(folder, n)))


def commits(folder: Path) -> Iterator[tuple[int, CommitLog]]:
    """Yield the batches of the log of commits with what it says, as `read_batches` does."""
    return _there(logged(folder, "commits"), lambda n: commit_of(folder, n))


def _there(numbers: Iterable[int], read: Callable[[int], Found]) -> Iterator[tuple[int, Found]]:
    for number in numbers:
        try:
            yield number, read(number)
        except EvidenceError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise


def logged(folder: Path, log: str) -> list[int]:
    """Return the numbers of the batches in a log, ascending; none where it is not there."""
    try:
        return batches(p.name for p in (folder / log).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise EvidenceError(f"{folder / log} can't be read: {error.strerror}") from error


def offsets_of(folder: Path, batch: int) -> OffsetLog:
    """Return what a batch was to read; EvidenceError where the file is none of this log."""
    path = folder / "offsets" / str(batch)
    try:
        return read_offsets(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def commit_of(folder: Path, batch: int) -> CommitLog:
    """Return the commit of a batch; EvidenceError where the file is none of this log."""
    path = folder / "commits" / str(batch)
    try:
        return read_commit(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def file_source_offsets(folder: Path, batch: int) -> Iterator[tuple[str, int]]:
    """Yield each file source's folder of `sources` and the last entry of its log that was read."""
    for place, (name, offset) in enumerate(offsets_of(folder, batch).offsets):
        if _is_of_files(offset):
            yield name or str(place), offset["logOffset"]


def _batch(folder: Path, number: int) -> LoggedBatch:
    planned, done = offsets_of(folder, number), commit_of(folder, number)
    found: dict[str, dict[int, int]] = {}
    others = 0
    for _, offset in planned.offsets:
        topics = list(kafka_topics(offset))
        others += not topics and offset is not None and not _is_of_files(offset)
        for topic, parts in topics:
            found.setdefault(topic, {}).update(parts)
    return LoggedBatch(
        number=number,
        planned_ms=planned.at_ms,
        committed_ms=_modified(folder / "commits" / str(number)),
        watermark_ms=done.next_watermark_ms or planned.watermark_ms,
        offsets=found,
        begins=_begins(folder, planned) if number == 0 else {},
        other_sources=others,
    )


def _begins(folder: Path, planned: OffsetLog) -> dict[str, dict[int, int]]:
    """Return the first offsets of Kafka sources, from their own logs as far as these are there."""
    found: dict[str, dict[int, int]] = {}
    for place, (name, _) in enumerate(planned.offsets):
        try:
            entry = read_source_entry(
                (folder / "sources" / (name or str(place)) / "0").read_bytes()
            )
        except (OSError, ValueError):
            continue
        for topic, parts in kafka_topics(entry.start):
            found.setdefault(topic, {}).update(parts)
    return found


def _is_of_files(offset: Any) -> bool:
    return isinstance(offset, dict) and isinstance(offset.get("logOffset"), int)


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None


def _unreadable(path: Path, error: OSError | ValueError) -> EvidenceError:
    if isinstance(error, OSError):
        return EvidenceError(f"{path} can't be read: {_reason(error)}")
    return EvidenceError(f"{path} can't be read: {_reason(error)}. Run `headgate plan repair`")


def _reason(error: Any) -> str:
    return getattr(error, "strerror", None) or str(error)
