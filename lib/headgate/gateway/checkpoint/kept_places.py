"""What is left at a place of a remote file system that a run has made, and its removal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from headgate.gateway.checkpoint.remote_copy import MANIFEST, changing, open_changes
from headgate.gateway.files.evidence_files import Settings

_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Objects at a place: `written` is the newest one's time (ms since 1970), None if not told."""

    files: int
    bytes: int
    written: int | None


def left_at(place: str, settings: Settings) -> Left | None:
    """Return what is there, None where nothing is; UnreachableError where nobody answers."""
    changes, path = open_changes(place, settings)
    with changing(place):
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


def remove_place(place: str, settings: Settings) -> None:
    """Remove every object there, then the manifest; doing it again goes on.

    RefusedError where that is not allowed, UnreachableError where nobody answers.
    """
    changes, path = open_changes(place, settings)
    with changing(place):
        names = sorted(changes.stored(path))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: changes.remove(f"{path}/{name}"), names))
        changes.remove(path + MANIFEST)
