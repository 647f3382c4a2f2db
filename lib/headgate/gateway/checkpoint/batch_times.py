"""When the batches of a local checkpoint came, how long they took, and how long it is quiet."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path

from headgate.text.json_text import read_json

_LAST_BATCHES = 6
# A file of the future is another machine's clock; this much is nobody's fault.
_CLOCKS = 2.0


def batch_seconds(folder: Path) -> float | None:
    """Return the median time between the last batches, in seconds."""
    log = folder / "offsets"
    found = [_timestamp(log / str(batch)) for batch in _last(log)]
    known = [t for t in found if t is not None]
    gaps = sorted(after - before for before, after in pairwise(known))
    return gaps[len(gaps) // 2] / 1000 if gaps else None


def busy_seconds(folder: Path) -> float | None:
    """Return the longest time from a batch's offsets to its commit, of the last batches."""
    times = [
        (_changed(folder / "offsets" / str(n)), _changed(folder / "commits" / str(n)))
        for n in _last(folder / "offsets")
    ]
    return max((b - a for a, b in times if a is not None and b is not None), default=None)


def quiet_seconds(folder: Path) -> float | None:
    """Return how long ago a file came to the logs; None where clocks differ, or there is none.

    The folders' own times would not do: taking old batches away changes them, too.
    """
    newest = [folder / log / str(n) for log in ("offsets", "commits") for n in _last(folder / log)]
    changed = max(filter(None, map(_changed, newest)), default=None)
    quiet = None if changed is None else time.time() - changed
    return quiet if quiet is None or quiet >= -_CLOCKS else None


def _last(log: Path) -> list[int]:
    try:
        found = sorted(int(name) for name in os.listdir(log) if name.isdecimal())  # noqa: PTH208
    except OSError:
        return []
    return found[-_LAST_BATCHES:]


def _changed(path: Path) -> float | None:
    # A running query removes old batches while we look.
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _timestamp(path: Path) -> int | None:
    try:
        head = read_json(path.read_text(errors="replace").splitlines()[1])
    except (OSError, ValueError, IndexError):
        return None
    found = head.get("batchTimestampMs") if isinstance(head, dict) else None
    return found if isinstance(found, int) else None
