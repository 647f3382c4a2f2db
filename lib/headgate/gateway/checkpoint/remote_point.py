"""Keep a checkpoint of a remote file system at the end of its newest batch, by copies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headgate.errors import EvidenceError
from headgate.gateway.checkpoint.point_copy import (
    FilesGoneError,
    Kept,
    newest_batch,
    nothing_done,
    wanted_files,
)
from headgate.gateway.checkpoint.remote_copy import (
    MANIFEST,
    Order,
    changing,
    copy_files,
    edited,
    finish,
    open_changes,
)
from headgate.gateway.checkpoint.remote_view import is_small, seen
from headgate.gateway.checkpoint.rewind_facts import read_rewind
from headgate.gateway.files.evidence_files import Settings

_AT_ONCE = 16


def keep_remote(source: str, target: str, settings: Settings) -> Kept:
    """Copy what the newest batch needs within the file system, then read the copy back.

    FilesGoneError where the query removed a file meanwhile, StepError where no batch is committed,
    RefusedError and UnreachableError as of any copy.
    """
    changes, path = open_changes(target, settings)
    with changing(target), seen(source, settings) as shadow:
        place = open_changes(source, settings)[1]
        batch = newest_batch(shadow)
        if batch is None:
            raise nothing_done(source)
        try:
            wanted = {p.as_posix() for p in wanted_files(shadow, batch)}
        except EvidenceError as error:
            raise FilesGoneError(source, batch, error) from error
        order = Order(
            source=source,
            target=target,
            run="",
            expected="",
            batch=batch,
            only=frozenset(wanted),
        )
        found = edited(shadow, order)
        there = changes.stored(place)
        if gone := sorted(found.names - found.own.keys() - there.keys()):
            raise FilesGoneError(source, batch, f"{gone[0]} is missing")
        kept = {n: there[n] for n in found.names if n in there}
        try:
            copy_files(changes, (place, path), kept, found.own, lambda *_: None)
        except FileNotFoundError as error:
            raise FilesGoneError(source, batch, error) from error
        for name, data in sorted(found.own.items()):
            changes.write(f"{path}/{name}", data)
        sizes = {n: f.size for n, f in kept.items()} | {n: len(d) for n, d in found.own.items()}
        small = {n: (shadow / n).read_bytes() for n in found.names if is_small(n)}
        finish(changes, path, target, {"source": source, "batch": batch}, sizes, small | found.own)
    with seen(target, settings) as copy:
        if missing := read_rewind(copy, batch).missing:
            raise FilesGoneError(source, batch, missing[0])
    return Kept(batch=batch, sizes=sizes, linked=False)


def stored_points(folder: str, settings: Settings, *, whole: bool = True) -> dict[str, int]:
    """Return the bytes of every file below a folder of points, by its path in there.

    Only those of the folder itself without `whole`.
    """
    changes, path = open_changes(folder, settings)
    with changing(folder, reads=True):
        return {name: one.size for name, one in changes.stored(path, whole=whole).items()}


def write_document(location: str, data: bytes, settings: Settings) -> None:
    """Write a small file."""
    changes, path = open_changes(location, settings)
    with changing(location):
        changes.write(path, data)


def read_document(location: str, settings: Settings) -> bytes:
    """Return a small file; OSError and ValueError as the file system raises them."""
    changes, path = open_changes(location, settings)
    with changes.opened(path) as stream:
        return stream.read(-1) or b""


def remove_point(location: str, settings: Settings) -> None:
    """Remove the document first, then every file of a point, then its manifest."""
    changes, path = open_changes(location, settings)
    with changing(location):
        changes.remove(f"{path}.json")
        names = sorted(changes.stored(path))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: changes.remove(f"{path}/{name}"), names))
        changes.remove(path + MANIFEST)


def id_of(name: str) -> str:
    """Return the point that a file below a folder of points belongs to."""
    return Path(name).parts[0].removesuffix(MANIFEST).removesuffix(".json")
