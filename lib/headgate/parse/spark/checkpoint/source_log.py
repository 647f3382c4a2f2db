"""Read a file of a source's own log, `sources/N/B` in a checkpoint.

Kafka and rate write their first offsets there, once: `v1`, then JSON or a number. A file source
writes the files of each batch, one JSON object a line, and every tenth batch all files so far
into a `B.compact`. A `\\0` may precede the version: Spark 2.1 needed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.parse.spark.checkpoint.offset_log import offset_json, versioned
from headgate.text.json_text import read_json

# A new query asks its file source for the entries 0 to its own newest one, and leaves out lines of
# another batch than the entry's; but on a start it knows the files of all lines. So this number,
# which no query ever reaches, makes a file known and never given [run, 4.2]. Checkpoints that
# Headgate makes have it in entry 0.
READ_BEFORE = 10**12 - 1
_DEFAULT_INTERVAL = 10  # spark.sql.streaming.fileSource.log.compactInterval


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One file of a source's log: first offsets, or a file source's `files` with their batches."""

    version: int
    start: Any = None
    is_files: bool = False
    files: tuple[tuple[str, int | None], ...] = ()


def read_source_entry(data: bytes, *, is_cut: bool = False) -> SourceEntry:
    """Return what one file says; if it `is_cut` (only its beginning), what its whole lines say.

    Raises ValueError if it isn't a file of a source's log.
    """
    if is_cut:
        data = data[: data.rfind(b"\n") + 1]
    version, lines = versioned(data.lstrip(b"\0"))
    found = [offset_json(line) for line in lines if line]
    if not found:
        raise ValueError("the file is incomplete")
    if not _is_file(found[0]):
        return SourceEntry(version, start=found[0])
    files = tuple((str(f["path"]), _batch(f)) for f in found if _is_file(f))
    return SourceEntry(version, is_files=True, files=files)


def _is_file(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("path"), str) and "batchId" in found


def _batch(found: dict[str, Any]) -> int | None:
    batch = found.get("batchId")
    if batch == READ_BEFORE:
        return 0
    return batch if isinstance(batch, int) else None


def read_sink_entry(data: bytes, *, is_cut: bool = False) -> tuple[dict[str, Any], ...]:
    """Return the files that one file of a file sink's log names; ValueError where it is none."""
    if is_cut:
        data = data[: data.rfind(b"\n") + 1]
    _, lines = versioned(data)
    found = [read_json(line) for line in lines if line]
    if not all(isinstance(f, dict) and isinstance(f.get("path"), str) for f in found):
        raise ValueError(
            "expected one JSON object with `path` per line, as in `_spark_metadata` of a file sink"
        )
    return tuple(found)


def cut_entries(files: Mapping[str, bytes], last: int) -> dict[str, bytes]:
    """Return a file source's log as it was when `last` was its newest entry, by name of file.

    Where the files up to there are whole they stay as they are. Else a later `.compact` is taken
    apart again: it holds what its predecessors held, each line with its batch. ValueError where
    an entry is in none of the files.
    """
    kept = {n: d for n, d in files.items() if _entry_number(n) <= last}
    if _is_whole(kept, last):
        return kept
    head, lines = _all_lines(files)
    absent = [n for n in range(last + 1) if n not in lines]
    if absent:
        raise ValueError(
            f"entry {absent[0]} is missing in the log of the file source (a folder in `sources`)"
        )
    interval = _interval(files)
    compact = (last + 1) // interval * interval - 1
    groups = {str(n): [n] for n in range(compact + 1, last + 1)}
    if compact >= 0:
        groups[f"{compact}.compact"] = list(range(compact + 1))
    return {
        name: "\n".join([head, *(line for n in numbers for line in lines[n])]).encode()
        for name, numbers in groups.items()
    }


def _entry_number(name: str) -> int:
    return int(name.removesuffix(".compact"))


def _is_whole(files: Mapping[str, bytes], last: int) -> bool:
    """Whether the newest compacted entry, or the first one, and all after it are there."""
    start = max((_entry_number(n) for n in files if n.endswith(".compact")), default=0)
    names = {_entry_number(n) for n in files}
    return all(n in names for n in range(start, last + 1))


def _all_lines(files: Mapping[str, bytes]) -> tuple[str, dict[int, list[str]]]:
    head = "v1"
    found: dict[int, list[str]] = {}
    for name in sorted(files, key=_entry_number):
        text = files[name].decode().split("\n")
        head = text[0]
        mine: dict[int, list[str]] = {}
        for line in filter(None, text[1:]):
            batch = _batch(read_json(line))
            if batch is None:
                raise ValueError(
                    f"entry {name} in the log of the file source (a folder in `sources`) has no "
                    "batch number"
                )
            mine.setdefault(batch, []).append(line)
        found |= mine
    return head, found


def _interval(files: Mapping[str, bytes]) -> int:
    """Return the compaction interval, as Spark derives it from the compacted files there."""
    compacted = sorted(_entry_number(n) for n in files if n.endswith(".compact"))
    if len(compacted) > 1:
        return compacted[-1] - compacted[-2]
    return compacted[0] + 1 if compacted else _DEFAULT_INTERVAL
