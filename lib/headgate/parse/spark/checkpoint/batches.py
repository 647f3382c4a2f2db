"""List the batches that a checkpoint's logs hold: what each was to read, and whether it is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.parse.spark.checkpoint.commit_log import CommitLog, read_commit
from headgate.parse.spark.checkpoint.offset_log import OffsetLog, read_offsets
from headgate.parse.spark.checkpoint.reader import Reader, batches
from headgate.text.engine_times import iso


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOffsets:
    """One source in one batch: it reads from `start` to `end`, each in the source's own JSON.

    `start` is None in the query's first batch, and if the previous batch is missing from the log.
    `end` is None if the source had no offset yet. `is_known` is False if the log doesn't show
    `start`.
    """

    position: int
    name: str | None = None
    start: Any = None
    end: Any = None
    is_known: bool = True

    @property
    def is_empty(self) -> bool | None:
        """Whether the batch took nothing from this source; None where that is not known."""
        return self.start == self.end if self.is_known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """One batch. `at` is when it was planned (ISO 8601, UTC): by `batchTimestampMs`, or else by the
    time of the file.

    `watermark_ms` is what it ran with, `next_watermark_ms` what its commit left for the next one.
    `committed` is whether the commit log has it. `sources` is None where its offsets can't be
    read or are not there any more.
    """

    number: int
    at: str | None = None
    committed: bool = False
    sources: tuple[SourceOffsets, ...] | None = None
    watermark_ms: int | None = None
    next_watermark_ms: int | None = None
    log_version: int | None = None


@dataclass(frozen=True, slots=True)
class Batches:
    """All batches of a checkpoint, oldest first, and a sentence for each file that is broken."""

    batches: tuple[LoggedBatch, ...]
    warnings: tuple[str, ...] = ()


def read_batch_logs(
    files: Mapping[str, bytes], *, source: str, times: Mapping[str, int] | None = None
) -> Batches:
    """Return the batches of both logs.

    `files` maps `offsets/N` and `commits/N` to contents, `times` to when they were written last
    (milliseconds since 1970), for batches that do not say it themselves; `source` is how a
    warning calls the checkpoint.
    """
    reader = Reader(files, frozenset(files), source)
    logged = _log(reader, "offsets", read_offsets)
    commits = _log(reader, "commits", read_commit)
    made = tuple(
        _batch(number, logged, commits, times or {}) for number in sorted({*logged, *commits})
    )
    return Batches(made, tuple(reader.warnings))


def _log(reader: Reader, folder: str, parse: Any) -> dict[int, Any]:
    """Return what each file of a log says, None for a broken one."""
    return {n: reader.read(f"{folder}/{n}", parse) for n in batches(reader.below(folder))}


def _batch(
    number: int,
    logged: Mapping[int, OffsetLog | None],
    commits: Mapping[int, CommitLog | None],
    times: Mapping[str, int],
) -> LoggedBatch:
    log, commit = logged.get(number), commits.get(number)
    known = log.at_ms if log else None
    if known is None:
        known = times.get(f"offsets/{number}")
    return LoggedBatch(
        number=number,
        at=iso(known) if known is not None else None,
        committed=number in commits,
        sources=tuple(_sources(number, log, logged)) if log else None,
        watermark_ms=log.watermark_ms if log else None,
        next_watermark_ms=commit.next_watermark_ms if commit else None,
        log_version=log.version if log else None,
    )


def _sources(
    number: int, log: OffsetLog, logged: Mapping[int, OffsetLog | None]
) -> Iterator[SourceOffsets]:
    before = logged.get(number - 1)
    for position, (name, end) in enumerate(log.offsets):
        start, is_known = _start(number, position, name, before)
        yield SourceOffsets(
            position=position,
            name=None if name is None or name.isdecimal() else name,
            start=start,
            end=end,
            is_known=is_known,
        )


def _start(
    number: int, position: int, name: str | None, before: OffsetLog | None
) -> tuple[Any, bool]:
    """Return where a source's batch starts, and whether the log shows it.

    A source is found by name, else by position. The first batch starts at None, which is known.
    """
    if number == 0:
        return None, True
    if before is None:
        return None, False
    if name is not None:
        known = dict(before.offsets)
        return known.get(name), True
    if position < len(before.offsets):
        return before.offsets[position][1], True
    return None, False
