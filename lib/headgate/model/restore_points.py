"""What a pipeline could be gone back to: batches, restore points, and what stands against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """A batch that both logs of a checkpoint hold; times are in milliseconds since 1970.

    `planned_ms` is when it was planned: what it read had arrived by then. `committed_ms` is the
    time of its commit's file, which a copy may have changed. `watermark_ms` is the watermark after
    it. `offsets` are where it ends on Kafka's partitions; `other_sources` is how many sources are
    neither Kafka nor files.
    """

    number: int
    planned_ms: int | None = None
    committed_ms: int | None = None
    watermark_ms: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    other_sources: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """A checkpoint seen from the end of one of its batches.

    `missing` are sentences: what the state of that batch, or the restart after it, needs and is
    not there. `lost_inputs` are files that later batches have read and that are gone, of
    `input_files` such files. `size` is how many bytes all its files have, `stores` how many pieces
    of state (operator, partition, store) were looked at. `foreign_schema_files` are other
    checkpoints that the state's metadata names schema files in: this one is a copy.
    """

    batch: int
    missing: tuple[str, ...] = ()
    lost_inputs: tuple[str, ...] = ()
    input_files: int = 0
    files: int = 0
    size: int = 0
    stores: int = 0
    foreign_schema_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkLog:
    """A file sink's own log, `_spark_metadata`: the batches after one, and what stands against.

    `later` are the batches that it has after the one that is gone back to, `files` how many files
    of output those wrote. `problem` says why the log can't be cut there, None where it can.
    """

    target: str
    later: tuple[int, ...] = ()
    files: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """How many rows Spark's state reader found in a store; None where it can't read that form."""

    operator: int
    store: str
    rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSize:
    """A checkpoint's files and bytes; `copied` are the bytes that a snapshot takes anew.

    Where files can be linked a snapshot takes next to none.
    """

    files: int
    bytes: int
    copied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A checkpoint was continued from the end of `batch`; `id` tells it from other such times.

    `skips` says that it continued after records which the batch had not read. Whoever goes back to
    before it reads them.
    """

    id: str
    batch: int
    skips: bool = False


def skipped_after(now: tuple[Turn, ...], point: tuple[Turn, ...] | None, batch: int) -> bool:
    """Whether a checkpoint with the history `now` skipped records after this batch.

    `point` is the history of a restore point that has the batch, None: the checkpoint's own logs
    have it, in which the batch itself ends after what was skipped.
    """
    if point is None:
        return any(turn.skips and batch < turn.batch for turn in now)
    return any(turn.skips for turn in now[len(point) :])


def is_before(point: tuple[Turn, ...], batch: int, now: tuple[Turn, ...]) -> bool:
    """Whether a batch with this history is one that a checkpoint of the history `now` has had.

    It isn't if a rewind has gone back to before it, or if its own rewind was undone.
    """
    since = now[len(point) :]
    return point == now[: len(point)] and all(batch <= turn.batch for turn in since)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePoint:
    """Offsets of a pipeline, and the checkpoint of a Spark query, kept at the end of a batch.

    `made_at` is ISO 8601 in UTC. `source` is the checkpoint, or the group whose committed offsets
    these are. `location` is the kept checkpoint: None for a group, whose point has offsets only.
    `planned_ms`, `committed_ms` and `watermark_ms` are those of the batch, in milliseconds since
    1970. `files` and `bytes` are those of the kept checkpoint, `seconds` is how long it took to
    make. `fingerprint` is that of the pipeline's version then, None if none was stored. `sink` is
    the folder of a file sink, whose log at the batch is in `sink_log`. `history` are the rewinds
    that the checkpoint had behind it.
    """

    id: str
    pipeline: str
    made_at: str
    source: str
    location: str | None = None
    query_id: str | None = None
    batch: int | None = None
    planned_ms: int | None = None
    committed_ms: int | None = None
    watermark_ms: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    other_sources: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    fingerprint: str | None = None
    sink: str | None = None
    sink_log: str | None = None
    history: tuple[Turn, ...] = ()

    def is_of(self, batch: LoggedBatch) -> bool:
        """Whether it ends at this batch of its query, not at one that a rewind has replaced.

        A rewind uses the numbers again. Batches planned again have another planning time.
        """
        return (self.batch, self.planned_ms) == (batch.number, batch.planned_ms)

    @property
    def as_batch(self) -> LoggedBatch:
        """The batch that it ends at; ValueError if it has offsets only."""
        if self.batch is None:
            raise ValueError(f"restore point {self.id} has offsets only")
        return LoggedBatch(
            number=self.batch,
            planned_ms=self.planned_ms,
            committed_ms=self.committed_ms,
            watermark_ms=self.watermark_ms,
            offsets=self.offsets,
            other_sources=self.other_sources,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PointCheck:
    """Whether a point is whole: `at` is ISO 8601, `problem` what is damaged, None if nothing is.

    `rows` are those of all its state, 0 without state. None: Spark's state reader doesn't know a
    store's format, so only the files and their sizes were checked.
    """

    at: str
    problem: str | None = None
    rows: int | None = None


def verified_word(rows: int | None) -> str:
    """Return what a check without a problem has verified; see `PointCheck.rows`."""
    return "verified" if rows is not None else "only files verified"
