"""Which rewinds a local checkpoint has behind it: a file in its folder that Spark doesn't read.

A rewind uses batch numbers again. So two restore points of one query may have the same number and
be of different batches. Each copy that continues from an earlier batch adds itself to the file of
the checkpoint or restore point that it was made of. An undo restores the folder, and with it the
history of before.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgspec

from headgate.model.restore_points import Turn

HISTORY = ".headgate-history.json"


def read_history(folder: Path) -> tuple[Turn, ...]:
    """Return the rewinds of a checkpoint, oldest first; none where nothing is recorded."""
    try:
        return msgspec.json.decode((folder / HISTORY).read_bytes(), type=tuple[Turn, ...])
    except (OSError, msgspec.MsgspecError):
        # A damaged file is no reason to read no checkpoint; it says nothing of its rewinds.
        return ()


def mark_skip(folder: Path) -> None:
    """Record in a copy that it continues after records which its last batch has not read."""
    turns = read_history(folder)
    if turns:
        found = (*turns[:-1], replace(turns[-1], skips=True))
        _write(folder, found)


def add_turn(folder: Path, turn: Turn) -> None:
    """Record in a copy that it continues from an earlier batch."""
    _write(folder, (*read_history(folder), turn))


def _write(folder: Path, turns: tuple[Turn, ...]) -> None:
    """Write the file and force it to disk; it is part of a copy that nothing uses yet."""
    with (folder / HISTORY).open("wb") as file:
        file.write(msgspec.json.encode(turns))
        file.flush()
        os.fsync(file.fileno())
