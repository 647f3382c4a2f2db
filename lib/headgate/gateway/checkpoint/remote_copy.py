"""Make a checkpoint at a new location of a remote file system: copied, cut, or new; then verify it.

The old location is only read. Beside the new one is a manifest, `LOCATION.manifest.json`, with
every file's size, and the hash of the small ones. It is written last: a copy without a manifest is
incomplete.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.errors import RefusedError, StepError, UnreachableError
from headgate.gateway.checkpoint.batches import file_source_offsets
from headgate.gateway.checkpoint.copy import point_to
from headgate.gateway.checkpoint.remote_view import is_small, seen
from headgate.gateway.checkpoint.rewind_copy import cut_source_log, is_kept, rename_query
from headgate.gateway.files.addresses import without_secret
from headgate.gateway.files.evidence_files import Settings
from headgate.gateway.files.remote_version import Stored, stored_hash
from headgate.text.json_text import read_json

if TYPE_CHECKING:
    from headgate.gateway.files.remote_write import Changes

_AT_ONCE = 16
MANIFEST = ".manifest.json"
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to copy where; `expected` is the hash that the source's listing must have.

    With `batch` the copy ends at that batch; `query_id` is written in place of the query's own.
    `only` are the names of files to copy; None: all that belong to the batch.
    """

    source: str
    target: str
    run: str
    expected: str
    batch: int | None = None
    query_id: str | None = None
    only: frozenset[str] | None = None


@contextmanager
def changing(location: str, *, reads: bool = False) -> Iterator[None]:
    """Turn what a file system raises into ours; `reads` where nothing is written."""
    shown = without_secret(location)
    verb, done = ("read", "read") if reads else ("write", "written")
    try:
        yield
    except PermissionError as error:
        # Its text says which credentials to set: see `remote_errors.explained`.
        raise RefusedError(f"no permission to {verb} {shown}: {error}") from error
    except FileNotFoundError as error:
        raise _changed(
            location, "while Headgate read it" if reads else "during the copy"
        ) from error
    except (OSError, ValueError) as error:
        raise UnreachableError(
            f"{shown} could not be {done}: {error}. Check the address and [file_systems] in "
            "headgate.toml, then try again"
        ) from error


def _changed(location: str, when: str = "during the copy") -> RefusedError:
    return RefusedError(
        f"{without_secret(location)} changed {when}: stop the process that writes to the "
        "checkpoint, then try again"
    )


def open_changes(location: str, settings: Settings) -> tuple[Changes, str]:
    """Return what changes the file system of an address, and the path in it; see `changing`."""
    # What reads remote file systems costs half a second to import.
    from headgate.gateway.files import remote_write

    with changing(location):
        return remote_write.open_changes(location, settings)


def copy_remote_checkpoint(
    order: Order, settings: Settings, on_progress: OnProgress = lambda *_: None
) -> None:
    """Copy a checkpoint within its file system; what an earlier try has copied stays.

    `on_progress` is called with the bytes done and the total, and may raise. RefusedError if the
    source is not what was expected, before or after, or may not be read or written.
    UnreachableError if the file system stops answering: a second call continues.
    """
    changes, target = open_changes(order.target, settings)
    with changing(order.target):
        with changing(order.source, reads=True):
            source = open_changes(order.source, settings)[1]
            before = changes.stored(source)
        _check_unchanged(order, before)
        with seen(order.source, settings) as shadow:
            try:
                found = edited(shadow, order)
            except ValueError as error:
                raise StepError(f"{order.source} can't be copied: {error}") from error
            kept = {n: f for n, f in before.items() if n in found.names}
            try:
                copy_files(changes, (source, target), kept, found.own, on_progress)
            except FileNotFoundError as error:
                raise _changed(order.source) from error
            for name, data in sorted(found.own.items()):
                changes.write(f"{target}/{name}", data)
            small = {n: (shadow / n).read_bytes() for n in found.names if is_small(n)}
        _check_unchanged(order, changes.stored(source))
        sizes = {n: f.size for n, f in kept.items()} | {n: len(d) for n, d in found.own.items()}
        facts = {"source": order.source, "batch": order.batch, "run": order.run}
        finish(changes, target, order.target, facts, sizes, small | found.own)


def write_remote_checkpoint(
    target: str, files: Mapping[str, bytes], facts: Mapping[str, Any], settings: Settings
) -> None:
    """Write a checkpoint of small files, read it back, and write its manifest last."""
    changes, path = open_changes(target, settings)
    with changing(target):
        for name, data in sorted(files.items()):
            changes.write(f"{path}/{name}", data)
        sizes = {name: len(data) for name, data in files.items()}
        finish(changes, path, target, facts, sizes, files)


def copy_issue(target: str, settings: Settings) -> str | None:
    """Return why a copy is not complete and untouched as its manifest says; None: it is."""
    changes, path = open_changes(target, settings)
    with changing(target, reads=True):
        listed = _manifest(changes, path)
        if listed is None:
            return (
                f"the copy {target} is incomplete: {target}{MANIFEST}, which Headgate writes last, "
                "is missing"
            )
        return _difference(target, listed["files"], changes.stored(path))


def delete_remote_checkpoint(target: str, source: str | None, settings: Settings) -> str | None:
    """Remove a copy that no query has used; return why it was kept, None where it is gone.

    One without a manifest was not ended: what the source has under the same names goes.
    """
    changes, path = open_changes(target, settings)
    with changing(target):
        there = changes.stored(path)
        listed = _manifest(changes, path)
        if listed is not None and there and _difference(target, listed["files"], there):
            return f"{target} was not deleted: files in the copy changed after Headgate wrote them"
        if listed is None and source is not None:
            known = changes.stored(open_changes(source, settings)[1])
            if strange := sorted(there.keys() - known.keys()):
                return (
                    f"{target} was not deleted: the folder contains {strange[0]}, which "
                    "Headgate did not create"
                )
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: changes.remove(f"{path}/{name}"), sorted(there)))
        changes.remove(path + MANIFEST)
    return None


def is_free(target: str, settings: Settings) -> bool:
    """Return whether a location has no files, and no manifest beside it."""
    changes, path = open_changes(target, settings)
    with changing(target, reads=True):
        return not changes.stored(path) and _manifest(changes, path) is None


def listing_hash(location: str, settings: Settings) -> str | None:
    """Return a hash over what the file system says of every file, None where there is none."""
    changes, path = open_changes(location, settings)
    with changing(location, reads=True):
        found = changes.stored(path)
    return stored_hash(found) if found else None


def sizes_of(location: str, settings: Settings) -> list[int]:
    """Return the sizes of all files of a checkpoint, in bytes."""
    changes, path = open_changes(location, settings)
    with changing(location, reads=True):
        return [one.size for one in changes.stored(path).values()]


@dataclass(frozen=True, slots=True)
class Edited:
    """The names that a copy has, and the files among them that are not the source's own."""

    names: frozenset[str]
    own: dict[str, bytes]


def edited(shadow: Path, order: Order) -> Edited:
    """Edit the shadow as the copy is to be; only what differs then has to be written."""
    batch = order.batch
    before = {
        name: (shadow / name).read_bytes() if is_small(name) else b"" for name in _names(shadow)
    }
    if batch is not None:
        for name, last in dict(file_source_offsets(shadow, batch)).items():
            cut_source_log(shadow / "sources" / name, last)
    point_to(shadow, order.target)
    if order.query_id is not None:
        rename_query(shadow / "metadata", order.query_id)
    kept = {n for n in _names(shadow) if batch is None or is_kept(Path(n), batch)}
    if order.only is not None:
        # What cutting a source's log has made is none of the names that were listed before.
        kept &= {*order.only, *(kept - before.keys())}
    own = {
        n: data
        for n in kept
        if is_small(n) and before.get(n) != (data := (shadow / n).read_bytes())
    }
    return Edited(frozenset(kept), own)


def _names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def copy_files(
    changes: Changes,
    locations: tuple[str, str],
    kept: Mapping[str, Stored],
    own: Mapping[str, bytes],
    on_progress: OnProgress,
) -> None:
    """Copy the files of `kept` that are neither `own` nor there yet; `locations` is from and to."""
    source, target = locations
    there = changes.stored(target)
    whole = sum(one.size for one in kept.values())
    wanted = [n for n in sorted(kept) if n not in own]
    missing = [n for n in wanted if n not in there or there[n].size != kept[n].size]
    done = whole - sum(kept[n].size for n in missing)

    def one(name: str) -> int:
        changes.copy(f"{source}/{name}", f"{target}/{name}", kept[name].size)
        return kept[name].size

    on_progress(done, whole)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            for size in pool.map(one, missing):
                done += size
                on_progress(done, whole)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _check_unchanged(order: Order, now: Mapping[str, Stored]) -> None:
    if stored_hash(now) != order.expected:
        raise _changed(order.source)


def finish(
    changes: Changes,
    path: str,
    target: str,
    facts: Mapping[str, Any],
    sizes: Mapping[str, int],
    small: Mapping[str, bytes],
) -> None:
    """Read back what was written, and say in the manifest that it is whole."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in small.items()}
    files = {n: {"size": s, "sha256": hashes.get(n)} for n, s in sorted(sizes.items())}
    if wrong := _difference(target, files, changes.stored(path)):
        raise RefusedError(f"{wrong}. Stop other processes that write to {target}, then try again")

    def differs(name: str) -> bool:
        with changes.opened(f"{path}/{name}") as stream:
            return hashlib.sha256(stream.read(-1) or b"").hexdigest() != hashes[name]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        names = sorted(hashes)
        wrong_ones = [n for n, bad in zip(names, pool.map(differs, names), strict=True) if bad]
    if wrong_ones:
        raise RefusedError(
            f"{target}/{wrong_ones[0]} differs from the file that Headgate wrote: another "
            "process writes to this location. Stop that process, then try again"
        )
    document = {"schema": 1, **facts, "files": files}
    changes.write(path + MANIFEST, json.dumps(document, indent=1).encode())


def _difference(
    target: str, files: Mapping[str, Mapping[str, Any]], there: Mapping[str, Stored]
) -> str | None:
    for name in sorted(files.keys() | there.keys()):
        if name not in files:
            return (
                f"{target}/{name} was not written by this run: another process writes to {target}"
            )
        if name not in there:
            return f"{target}/{name} is missing, although Headgate wrote this file"
        if there[name].size != files[name]["size"]:
            return f"{target}/{name} differs from the file that Headgate wrote"
    return None


def _manifest(changes: Changes, path: str) -> dict[str, Any] | None:
    try:
        with changes.opened(path + MANIFEST) as stream:
            found = read_json(stream.read(-1))
    except FileNotFoundError:
        return None
    except ValueError:
        # Only HDFS shows a file before its end.
        return None
    return found if isinstance(found, dict) and "files" in found else None
