"""What runs have backed up on local file systems: its size, and its removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headgate.gateway.checkpoint.folders import remove_tree
from headgate.gateway.checkpoint.remote_copy import MANIFEST, changing, open_changes
from headgate.gateway.files.evidence_files import Settings

# The names under which steps journal the folders that they keep.
JOURNAL_KEYS = ("aside", "copy", "fresh")


def kept_by(run: str, home: Path, was: Iterable[dict[str, Any]]) -> list[Path]:
    """Return what is still there of the folders that a run's journal names, and its own folder.

    Only names that a run gives are taken: hidden ones that end in its id, and `runs/ID`.
    """
    named = [str(found[word]) for found in was for word in JOURNAL_KEYS if found.get(word)]
    local = [Path(path) for path in named if urlsplit(path).scheme == ""]
    beside = [p for p in local if p.name.startswith(".") and p.name.endswith(f"-{run}")]
    return sorted({p for p in (*beside, home / "runs" / run) if p.is_dir()})


def freed_bytes(path: Path) -> int:
    """Return how many bytes go with a folder: of a file with another name none do."""
    return sum(f.stat().st_size for f in _files(path) if f.stat().st_nlink == 1)


def remove(path: Path) -> None:
    """Remove a folder, and the one around it where it is empty then; StepError where it fails."""
    remove_tree(path)
    with suppress(OSError):
        if path.parent.name == "runs":
            path.parent.rmdir()


def _files(path: Path) -> Iterator[Path]:
    return (p for p in path.rglob("*") if p.is_file() and not p.is_symlink())


_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Objects at a location: `written` is the newest time (ms since 1970), None if unknown."""

    files: int
    bytes: int
    written: int | None


def left_at(place: str, settings: Settings) -> Left | None:
    """Return what is there, None where nothing is; UnreachableError where nobody answers."""
    changes, path = open_changes(place, settings)
    with changing(place, reads=True):
        found = list(changes.stored(path).values())
    if not found:
        return None
    times = [one.written for one in found]
    told = [at for at in times if at is not None]
    return Left(
        files=len(found),
        bytes=sum(one.size for one in found),
        written=max(told) if len(told) == len(times) else None,
    )


def remove_backup(place: str, settings: Settings) -> None:
    """Remove every object there, then the manifest; a second call continues a failed one.

    RefusedError if that is not allowed, UnreachableError if nothing answers.
    """
    changes, path = open_changes(place, settings)
    with changing(place):
        names = sorted(changes.stored(path))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: changes.remove(f"{path}/{name}"), names))
        changes.remove(path + MANIFEST)
