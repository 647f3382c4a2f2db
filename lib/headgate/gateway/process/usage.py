"""What a started program uses now: memory of all its processes, and bytes below its folders."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from headgate.errors import LimitError
from headgate.gateway.process.child_process import process_table
from headgate.text.numbers import size

_LOOK_S = 1.0
_SESSION, _RSS = 3, 21
"""Indexes of two fields in /proc/PID/stat: 0 is the first field after the program's name."""


@dataclass
class Limits:
    """Bounds of a program: `memory` of its session and `disk` of its folders, both in bytes."""

    memory: int
    disk: int
    _looked: float = field(default=0.0, init=False)

    def check(self, what: str, session: int, folders: Iterable[Path]) -> None:
        """Raise LimitError if it uses more; looks once a second, however often it is asked."""
        if time.monotonic() < self._looked + _LOOK_S:
            return
        self._looked = time.monotonic()
        if (used := memory_of(session)) > self.memory:
            raise LimitError(
                f"{what} needs {size(used)} of memory, but a twin run may use at most "
                f"{size(self.memory)}"
            )
        if (used := sum(map(bytes_below, folders))) > self.disk:
            raise LimitError(
                f"{what} wrote {size(used)} to disk, but a twin run may write at most "
                f"{size(self.disk)}"
            )


def memory_of(session: int) -> int:
    """Return the resident bytes of a session's processes; 0 where there is no /proc."""
    pages = 0
    for _, fields in process_table():
        if int(fields[_SESSION]) == session:
            pages += int(fields[_RSS])
    return pages * os.sysconf("SC_PAGE_SIZE")


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files below a folder; files that go meanwhile count nothing."""
    found, folders = 0, [folder]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry))
                else:
                    with contextlib.suppress(OSError):
                        found += entry.stat(follow_symlinks=False).st_size
    return found
