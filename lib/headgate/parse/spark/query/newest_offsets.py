"""Which is newer, the checkpoint or the progress: its offsets say how far a query has got."""

from __future__ import annotations

from dataclasses import replace

from headgate.model.progress import NewestProgress
from headgate.model.version import Progress, Version
from headgate.parse.spark.checkpoint.checkpoint import Checkpoint


def is_later(report: NewestProgress | None, checkpoint: Checkpoint) -> bool:
    """Whether the progress is of a later batch than the newest committed one of the checkpoint.

    Progress of another query says nothing of this one.
    """
    if report is None or report.batch is None or report.query_id != checkpoint.query_id:
        return False
    known = checkpoint.progress.offsets_batch if checkpoint.progress else None
    return known is None or report.batch > known


def progress_of(
    checkpoint: Checkpoint, report: NewestProgress | None, *, is_newer: bool
) -> Progress | None:
    """Return how far the query has got, and which batch the sources' offsets are of."""
    known = checkpoint.progress
    if report is None or report.batch is None:
        return known
    if is_newer or (known is None and checkpoint.sources is None):
        return replace(
            known or Progress(),
            offsets_batch=report.batch,
            offsets_at=report.at,
            offsets_from="progress",
        )
    return known


def with_report(version: Version, report: NewestProgress) -> Version:
    """Return the version with the offsets of a progress report, where that is of a later batch.

    A report of another query, or with another number of sources, changes nothing.
    """
    known = version.progress.offsets_batch if version.progress else None
    sources = version.sources
    if report.batch is None or report.query_id != version.query_id or sources is None:
        return version
    if (known is not None and report.batch <= known) or len(sources) != len(report.sources):
        return version
    pairs = zip(sources, report.sources, strict=True)
    now = tuple(replace(s, offsets=s.offsets if r.offsets is None else r.offsets) for s, r in pairs)
    progress = replace(
        version.progress or Progress(),
        offsets_batch=report.batch,
        offsets_at=report.at,
        offsets_from="progress",
    )
    return replace(version, sources=now, progress=progress)
