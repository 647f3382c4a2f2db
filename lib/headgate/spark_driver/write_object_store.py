"""Write records as small numbered files to a store that can't append (S3, GCS, ABFS, HDFS)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from headgate.spark_driver.destinations import WatchedRun, surplus

_HURRY = 256 << 10
"""At this number of bytes, the watch writes a file before the interval ends."""


@dataclass(slots=True)
class _Waiting:
    watched: WatchedRun
    since: float
    number: int = 0
    lines: list[bytes] = field(default_factory=list)


class Objects:
    """Collects a run's lines for some seconds and writes them as one file.

    `uri` is whatever `pyarrow.fs.FileSystem.from_uri` takes. What waits here counts as kept, so a
    file that can't be written is tried again with the lines that came after it.
    """

    def __init__(self, uri: str, *, every: float, most_bytes: int) -> None:
        from pyarrow import fs

        self._fs: Any
        self._fs, self._base = fs.FileSystem.from_uri(uri)
        self._every = every
        self._most_bytes = most_bytes
        self._waiting: dict[str, _Waiting] = {}

    def write(self, watched: WatchedRun, lines: Sequence[bytes]) -> None:
        """Take the lines; OSError where it was time for a file and it could not be written."""
        waiting = self._waiting.get(watched.run)
        if waiting is None:
            waiting = self._waiting[watched.run] = _Waiting(watched, time.monotonic())
        waiting.lines.extend(lines)
        late = time.monotonic() - waiting.since >= self._every
        if waiting.number == 0 or late or sum(map(len, waiting.lines)) > _HURRY:
            try:
                self._put(waiting)
            except OSError:
                del waiting.lines[len(waiting.lines) - len(lines) :]
                raise

    def end(self, watched: WatchedRun) -> None:
        """Write what waits."""
        if waiting := self._waiting.get(watched.run):
            self._put(waiting)
            del self._waiting[watched.run]

    def lost(self) -> dict[str, int]:
        """Return nothing: what could not be written still waits."""
        return {}

    def close(self, seconds: float) -> None:
        """Write what waits; one that fails ends it."""
        with suppress(OSError):
            for waiting in self._waiting.values():
                self._put(waiting)

    def _put(self, waiting: _Waiting) -> None:
        if not waiting.lines:
            return
        head = waiting.watched.head if waiting.number else []
        name = waiting.watched.part(waiting.number)
        with self._fs.open_output_stream(f"{self._base}/{name}", compression=None) as stream:
            stream.write(b"".join([*head, *waiting.lines]))
        waiting.number += 1
        waiting.since = time.monotonic()
        waiting.lines = []
        if waiting.number % 100 == 1:
            self._keep_bound()

    def _keep_bound(self) -> None:
        from pyarrow import fs

        with suppress(OSError):
            found = self._fs.get_file_info(fs.FileSelector(self._base))
            sizes = [
                (i.base_name, i.mtime.timestamp() if i.mtime else 0.0, i.size or 0)
                for i in found
                if i.is_file
            ]
            for name in surplus(sizes, self._most_bytes, frozenset()):
                self._fs.delete_file(f"{self._base}/{name}")
