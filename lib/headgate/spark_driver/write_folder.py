"""Append records to files of a local folder: one file a run, in parts, within a bound of bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headgate.spark_driver.destinations import WatchedRun, surplus


@dataclass(slots=True)
class _Part:
    file: int
    path: Path
    number: int
    size: int


class Folder:
    """Lines are whole: if the disk takes only a part of a write, that part is removed."""

    def __init__(self, folder: Path, *, part_bytes: int, most_bytes: int) -> None:
        self._folder = folder
        self._part_bytes = part_bytes
        self._most_bytes = most_bytes
        self._parts: dict[str, _Part] = {}

    def write(self, watched: WatchedRun, lines: Sequence[bytes]) -> None:
        """Append the lines; OSError where the disk is full or the folder can't be written."""
        data = b"".join(lines)
        part = self._part(watched, len(data))
        self._append(part, data)

    def end(self, watched: WatchedRun) -> None:
        """Close the run's file."""
        if part := self._parts.pop(watched.run, None):
            os.close(part.file)

    def lost(self) -> dict[str, int]:
        """Return nothing: what `write` returned from is in the file."""
        return {}

    def close(self, seconds: float) -> None:
        """Close all files."""
        for part in self._parts.values():
            os.close(part.file)
        self._parts.clear()

    def _part(self, watched: WatchedRun, room: int) -> _Part:
        """Return the run's open part; a full one, or one that somebody removed, is followed."""
        part = self._parts.get(watched.run)
        if part is None:
            return self._opened(watched, 0)
        if not _is_there(part):
            self.end(watched)
            return self._opened(watched, part.number)
        if part.size and part.size + room > self._part_bytes:
            self.end(watched)
            return self._opened(watched, part.number + 1)
        return part

    def _opened(self, watched: WatchedRun, number: int) -> _Part:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / watched.part(number)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        part = _Part(file, path, number, os.fstat(file).st_size)
        self._parts[watched.run] = part
        if part.size == 0 and watched.head:
            self._append(part, b"".join(watched.head))
        self._keep_bound()
        return part

    def _append(self, part: _Part, data: bytes) -> None:
        try:
            written = os.write(part.file, data)
        except OSError:
            written = 0
            raise
        finally:
            if written != len(data):
                with suppress(OSError):
                    os.ftruncate(part.file, part.size)
        if written != len(data):
            raise OSError(f"{part.path.name}: only {written} of {len(data)} bytes were written")
        part.size += written

    def _keep_bound(self) -> None:
        """Delete the oldest parts in the folder, of this and of earlier runs; never an open one."""
        with suppress(OSError):
            found = [(p.name, p.stat()) for p in self._folder.glob("*.jsonl")]
            sizes = [(name, stat.st_mtime, stat.st_size) for name, stat in found]
            kept = frozenset(part.path.name for part in self._parts.values())
            # The part that is open grows by that much before the next look.
            most = max(self._most_bytes - self._part_bytes, 0)
            for name in surplus(sizes, most, kept):
                (self._folder / name).unlink(missing_ok=True)


def _is_there(part: _Part) -> bool:
    try:
        return part.path.stat().st_ino == os.fstat(part.file).st_ino
    except OSError:
        return False
