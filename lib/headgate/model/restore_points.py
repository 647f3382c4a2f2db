"""Batches and restore points that a pipeline can rewind to, and what prevents a rewind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """A batch in both logs of a checkpoint; times are in milliseconds since 1970.

    `planned_ms` is when Spark planned the batch: all its input had arrived by then. `committed_ms`
    is the modification time of the commit's file, which a copy may have changed. `watermark_ms` is
    the watermark after the batch. `offsets` are the batch's end offsets of Kafka partitions,
    `begins` the offsets at which a query began with its batch 0; empty for later batches.
    `other_sources` is the number of sources that are neither Kafka nor files.
    """

    number: int
    planned_ms: int | None = None
    committed_ms: int | None = None
    watermark_ms: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    begins: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    other_sources: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """A checkpoint, checked for a rewind to the end of one of its batches.

    `missing` are sentences: files that the state of this batch, or the next start, needs but that
    don't exist. Later batches read `input_files` files; `lost_inputs` are those of them that no
    longer exist. `size` is the number of bytes of all files; `stores` is the number of checked
    stores (by operator, partition and name). `foreign_schema_files` are other checkpoints whose
    schema files the state's metadata names: then this checkpoint is a copy.
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
    """A file sink's log (`_spark_metadata`): the batches after the target of a rewind.

    `later` are these batches, `files` is the number of output files that they wrote. `problem` is
    why the log can't be cut there, None if it can.
    """

    target: str
    later: tuple[int, ...] = ()
    files: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """The rows that Spark's state reader counted in a store; None if it can't read the format."""

    operator: int
    store: str
    rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSize:
    """The number of files and bytes of a checkpoint; `copied` are the bytes that a snapshot copies.

    Hard links need no copy.
    """

    files: int
    bytes: int
    copied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A rewind: the checkpoint continued from the end of `batch`. `id` identifies the rewind.

    `skips`: it continued after records that the batch hadn't read. A rewind to an earlier batch
    reads these records.
    """

    id: str
    batch: int
    skips: bool = False


def skipped_after(now: tuple[Turn, ...], point: tuple[Turn, ...] | None, batch: int) -> bool:
    """Whether a checkpoint with the history `now` has skipped records after this batch.

    `point` is the history of a restore point with the batch. None: the batch is in the checkpoint's
    own logs. There, the batch itself ends after the skipped records.
    """
    if point is None:
        return any(turn.skips and batch < turn.batch for turn in now)
    return any(turn.skips for turn in now[len(point) :])


def is_before(point: tuple[Turn, ...], batch: int, now: tuple[Turn, ...]) -> bool:
    """Whether a batch of the history `point` is in the past of a checkpoint of the history `now`.

    It isn't after a later rewind to an earlier batch, or if a rewind before it was undone.
    """
    since = now[len(point) :]
    return point == now[: len(point)] and all(batch <= turn.batch for turn in since)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePoint:
    """The offsets of a pipeline, and a copy of a Spark query's checkpoint, at the end of a batch.

    `made_at` is ISO 8601 in UTC. `source` is the checkpoint, or the group with these committed
    offsets. `offsets` of a group also have the partitions that had no record. `location` is the
    copy of the checkpoint, None for a group, which has only offsets. `planned_ms`, `committed_ms`
    and `watermark_ms` are those of the batch, in milliseconds since
    1970. `files` and `bytes` are those of the copy, `seconds` is how long Headgate took to make it.
    `fingerprint` is that of the pipeline's version at that time, None if no version was stored.
    `sink` is the folder of a file sink, and `sink_log` its log at the batch. `history` are the
    rewinds of the checkpoint until then. `topic_ids` are the ids that the topics of `offsets` had
    at `made_at`, as far as known.
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
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    def is_of(self, batch: LoggedBatch) -> bool:
        """Whether the restore point ends at this batch, and not at one that a rewind has replaced.

        After a rewind, Spark uses the same batch numbers again, but with later planning times.
        """
        return (self.batch, self.planned_ms) == (batch.number, batch.planned_ms)

    @property
    def as_batch(self) -> LoggedBatch:
        """The batch at which the restore point ends; ValueError if it has only offsets."""
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
    """The result of a verification: `at` is ISO 8601, `problem` the damage, None if there is none.

    `rows` is the number of rows of all state, 0 without state. None: Spark's state reader doesn't
    know the format of a store, so only files and sizes were checked.
    """

    at: str
    problem: str | None = None
    rows: int | None = None


def verified_word(rows: int | None) -> str:
    """Return what a check without a problem has verified: see `PointCheck.rows`."""
    return "verified" if rows is not None else "only files verified"
