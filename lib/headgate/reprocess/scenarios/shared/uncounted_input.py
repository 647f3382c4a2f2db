"""Inputs that a plan reprocesses and whose records can't be counted, for its impact."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.errors import EvidenceError
from headgate.reprocess.checkpoint.source_offsets import SourceKind
from headgate.reprocess.impact import UNKNOWN_INPUT
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.text.numbers import plural


def uncounted_input(*, files: int = 0, others: int = 0, topics: Iterable[str] = ()) -> list[str]:
    """Return the inputs in words: files, sources of unknown kinds, topics without a cluster.

    Some of the files may no longer exist, so their number is the most that is read.
    """
    found = [f"topic {name}" for name in sorted(topics)]
    if files:
        found.append(f"up to {plural(files, 'file')}")
    if others:
        found.append(f"{plural(others, 'source')} other than Kafka and files")
    return found


def uncounted_of(inspector: Inspector, found: Checkpoint) -> list[str]:
    """Return them for a query that reprocesses all of its input."""
    topics = () if inspector.kafka.has_cluster() else found.offsets
    try:
        position = inspector.checkpoints.query_position(found.location)
    except EvidenceError:
        return [*uncounted_input(topics=topics), UNKNOWN_INPUT]
    if position is None:
        return uncounted_input(topics=topics) if found.offsets else [UNKNOWN_INPUT]
    others = sum(s.kind is SourceKind.OTHER for s in position.sources)
    return uncounted_input(
        files=sum(s.files for s in position.sources),
        others=others if position.batch is not None else 0,
        topics=topics,
    )
