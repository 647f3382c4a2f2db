"""Read a file of a source's own log, `sources/N/B` in a checkpoint.

Kafka and rate write their first offsets there, once: `v1`, then JSON or a number. A file source
writes the files of each batch, one JSON object a line, every tenth batch all so far into a
`B.compact`. A `\\0` may stand before the version: Spark 2.1 wanted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headgate.parse.json_text import read_json
from headgate.parse.spark.offset_log import offset_json, versioned


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One file of a source's log: first offsets, or a file source's `files` with their batches."""

    version: int
    start: Any = None
    is_files: bool = False
    files: tuple[tuple[str, int | None], ...] = ()


def read_source_entry(data: bytes, *, is_cut: bool = False) -> SourceEntry:
    """Return what one file says; of one that `is_cut` (its beginning alone) the whole lines.

    Raises ValueError where it is no such file.
    """
    if is_cut:
        data = data[: data.rfind(b"\n") + 1]
    version, lines = versioned(data.lstrip(b"\0"))
    found = [offset_json(line) for line in lines if line]
    if not found:
        raise ValueError("it was not written to its end")
    if not _is_file(found[0]):
        return SourceEntry(version, start=found[0])
    files = tuple((str(f["path"]), _batch(f)) for f in found if _is_file(f))
    return SourceEntry(version, is_files=True, files=files)


def _is_file(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("path"), str) and "batchId" in found


def _batch(found: dict[str, Any]) -> int | None:
    batch = found.get("batchId")
    return batch if isinstance(batch, int) else None


def read_sink_entry(data: bytes, *, is_cut: bool = False) -> tuple[dict[str, Any], ...]:
    """Return the files that one file of a file sink's log names; ValueError where it is none."""
    if is_cut:
        data = data[: data.rfind(b"\n") + 1]
    _, lines = versioned(data)
    found = [read_json(line) for line in lines if line]
    if not all(isinstance(f, dict) and isinstance(f.get("path"), str) for f in found):
        raise ValueError("its lines are no files of a sink")
    return tuple(found)
