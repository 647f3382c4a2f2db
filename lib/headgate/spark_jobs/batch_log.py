"""The logs of a checkpoint's copy: which batches it has, and how to prepare the next one.

Spark writes `offsets/N` before a batch runs and `commits/N` afterwards. A batch that is in the
first log only runs again at the next start, with the offsets that are logged there. So the input
of a batch can be given: none at all, or what another version was given.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path


def batches(checkpoint: Path, log: str) -> list[int]:
    """Return the batch numbers of `offsets` or `commits`, oldest first."""
    folder = checkpoint / log
    if not folder.is_dir():
        return []
    return sorted(int(f.name) for f in folder.iterdir() if f.name.isdecimal())


def uncommitted(checkpoint: Path) -> list[int]:
    """Return the batches that started after the last committed one."""
    last = max(batches(checkpoint, "commits"), default=-1)
    return [n for n in batches(checkpoint, "offsets") if n > last]


def forget(checkpoint: Path, numbers: list[int]) -> None:
    """Remove entries of the offset log, with their checksums."""
    for number in numbers:
        for name in (str(number), f".{number}.crc"):
            (checkpoint / "offsets" / name).unlink(missing_ok=True)


def remove_batches_after(checkpoint: Path, last: int | None) -> list[str]:
    """Remove all that was logged after the batch `last`; return the names of what was removed.

    Commits go first: a batch that is removed in part counts as uncommitted, never as committed.
    """
    floor = -1 if last is None else last
    removed = []
    for log in ("commits", "offsets"):
        for number in (n for n in batches(checkpoint, log) if n > floor):
            for name in (str(number), f".{number}.crc"):
                (checkpoint / log / name).unlink(missing_ok=True)
            removed.append(f"{log}/{number}")
    return removed


def write_empty_batch(checkpoint: Path) -> int | None:
    """Log a batch that takes nothing: the positions of the last committed one once more.

    Returns its number; None where there is no committed batch whose positions are known. The
    watermark is what that commit says, as of any batch that the engine makes up itself.
    """
    last = max(batches(checkpoint, "commits"), default=None)
    if last is None or not (checkpoint / "offsets" / str(last)).is_file():
        return None
    lines = (checkpoint / "offsets" / str(last)).read_text(encoding="utf-8").split("\n")
    about = json.loads(lines[1])
    about["batchTimestampMs"] = int(time.time() * 1000)
    watermark = max(int(about.get("batchWatermarkMs", 0)), _next_watermark(checkpoint, last))
    about["batchWatermarkMs"] = watermark
    lines[1] = json.dumps(about, separators=(",", ":"))
    forget(checkpoint, [last + 1])
    (checkpoint / "offsets" / str(last + 1)).write_text("\n".join(lines), encoding="utf-8")
    return last + 1


def _next_watermark(checkpoint: Path, batch: int) -> int:
    lines = (checkpoint / "commits" / str(batch)).read_text(encoding="utf-8").split("\n")
    try:
        return int(json.loads(lines[1])["nextBatchWatermarkMs"])
    except (IndexError, KeyError, ValueError, TypeError):
        return 0


def give_batch(source: Path, target: Path, number: int) -> None:
    """Log a batch in `target` with the positions that it has in `source`.

    What file sources listed for it comes along: their position is a number of that list.
    """
    (target / "offsets").mkdir(exist_ok=True)
    forget(target, [number])
    shutil.copy2(source / "offsets" / str(number), target / "offsets" / str(number))
    for file in (source / "sources").rglob("*"):
        there = target / file.relative_to(source)
        if file.is_file() and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, there)


def positions(checkpoint: Path, number: int) -> list[str]:
    """Return what a batch's entry says of the sources; empty where it is not there."""
    file = checkpoint / "offsets" / str(number)
    return file.read_text(encoding="utf-8").split("\n")[2:] if file.is_file() else []


_WHERE = ("path", "subscribe", "subscribepattern", "assign", "kafka.bootstrap.servers")


def same_sources(pieces: Path, others: Path) -> bool:
    """Whether two recorded queries read the same sources in the same order; options may differ."""
    return _source_locations(pieces) == _source_locations(others)


def _source_locations(pieces: Path) -> list[tuple[object, ...]]:
    recorded = json.loads((pieces / "capture.json").read_text(encoding="utf-8"))
    found = []
    for source in recorded["sources"]:
        options = {k.lower(): v for k, v in source["options"].items()}
        places = tuple(options.get(name) for name in _WHERE)
        found.append((source["format"], source["name"], *places))
    return found
