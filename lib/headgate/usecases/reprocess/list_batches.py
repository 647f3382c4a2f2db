"""List the batches that a query can rewind to, with the records of each batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from headgate.errors import ScenarioError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.restore_points import LoggedBatch
from headgate.model.version import Engine
from headgate.text.times import from_milliseconds, iso
from headgate.usecases.context import Context, needs_file

Offsets: TypeAlias = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch in both logs; times are ISO 8601 in UTC, None if no log has them.

    `records` are the offsets that it read in each Kafka topic, including offsets without a record
    (compaction, transactions). None if the logs no longer have the batch before it, or the first
    offsets before batch 0, or if the query reads no topic.
    """

    number: int
    planned_at: str | None = None
    committed_at: str | None = None
    watermark: str | None = None
    records: Mapping[str, int] | None = None

    @property
    def total(self) -> int | None:
        """The number of records that the batch read in all topics."""
        return None if self.records is None else sum(self.records.values())


def list_batches(context: Context, pipeline: str) -> tuple[BatchRow, ...]:
    """Return the batches that the query's checkpoint has, newest first.

    NotFoundError if the pipeline isn't registered, ScenarioError if it has no checkpoint,
    EvidenceError or UnreachableError if the checkpoint can't be read.
    """
    needs_file(context)
    found = context.registered(pipeline)
    if found.engine is not Engine.SPARK or not found.checkpoint:
        raise ScenarioError(
            f"{pipeline} has no Spark checkpoint, so there are no batches to rewind to. If "
            f"{pipeline} is a Spark query, set `checkpoint` in headgate.toml"
        )
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        if inspector.checkpoints.read(found.checkpoint) is None:
            raise ScenarioError(
                f"no checkpoint found at {found.checkpoint}. Start the pipeline once, or "
                "correct `checkpoint` in headgate.toml"
            )
        return batch_rows(inspector.checkpoints.batches(found.checkpoint))


def batch_rows(batches: Iterable[LoggedBatch]) -> tuple[BatchRow, ...]:
    """Return a row for each batch, newest first, with the difference to the batch before it."""
    ordered = sorted(batches, key=lambda batch: batch.number)
    rows = [_row(batch, _between(batch.begins, batch)) for batch in ordered[:1]]
    rows += [_row(batch, _since(before, batch)) for before, batch in pairwise(ordered)]
    return tuple(reversed(rows))


def _since(before: LoggedBatch, batch: LoggedBatch) -> dict[str, int] | None:
    return _between(before.offsets, batch) if before.number + 1 == batch.number else None


def _between(begins: Offsets, batch: LoggedBatch) -> dict[str, int] | None:
    """Return the records up to the batch's end, None if the logs don't have the begin.

    A partition that was added meanwhile was read from its beginning, which is 0.
    """
    if not batch.offsets or not batch.offsets.keys() <= begins.keys():
        return None
    return {
        topic: sum(end - begins[topic].get(n, 0) for n, end in parts.items())
        for topic, parts in batch.offsets.items()
    }


def _row(batch: LoggedBatch, records: Mapping[str, int] | None) -> BatchRow:
    return BatchRow(
        number=batch.number,
        planned_at=_iso(batch.planned_ms),
        committed_at=_iso(batch.committed_ms),
        watermark=_iso(batch.watermark_ms),
        records=records,
    )


def _iso(at: int | None) -> str | None:
    return iso(from_milliseconds(at)) if at else None
