"""List the batches of a query's checkpoint: number, time, offsets, watermark, committed or not."""

from __future__ import annotations

from headgate.errors import EvidenceError
from headgate.gateway.checkpoint.files import read_log_files
from headgate.gateway.files.addresses import without_secret
from headgate.gateway.files.evidence_files import entries, find
from headgate.parse.spark.checkpoint.batches import Batches, read_batch_logs
from headgate.parse.spark.checkpoint.checkpoint import is_checkpoint
from headgate.usecases.context import Context


def read_batches(
    checkpoint: str, *, context: Context | None = None, newest: int | None = None
) -> Batches:
    """Return the batches that the checkpoint at a path or URI still has, oldest first.

    `newest` limits how many entries of each log are read. A pipeline's name stands for its
    checkpoint. Raises EvidenceError if there is no checkpoint, UnreachableError if a remote file
    system doesn't respond. Entries that can't be read become warnings.
    """
    location = _location(checkpoint, context)
    place = find(location, context.registry.file_systems if context else None)
    if place is None:
        raise EvidenceError(f"checkpoint {without_secret(location)} not found")
    if not place.is_folder:
        raise EvidenceError(f"{checkpoint} isn't a Spark checkpoint: it is a file, not a folder")
    if not is_checkpoint(e.name for e in entries(place)):
        raise EvidenceError(
            f"{checkpoint} isn't a Spark checkpoint: the folder has no offset log and no commit log"
        )
    files, times, failures = read_log_files(place, newest)
    found = read_batch_logs(files, source=place.name, times=times)
    return Batches(found.batches, (*failures, *found.warnings))


def _location(checkpoint: str, context: Context | None) -> str:
    pipeline = context.registry.pipeline(checkpoint) if context else None
    if pipeline is not None and pipeline.checkpoint:
        return pipeline.checkpoint
    return checkpoint
