"""Where the restore points of a checkpoint are, on any file system: made, listed, removed.

Local ones are in `.NAME.headgate-points/` beside the checkpoint, where a link can reach them,
remote ones below `NAME.headgate-points/`. A point `ID` is whole if `ID.json` is there: it is
written last and removed first, so that what a killed worker left is known and goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from headgate.errors import EvidenceError, HeadgateError, StepError
from headgate.gateway.checkpoint import spark_metadata
from headgate.gateway.checkpoint.folders import local_path, remove_tree, sync, write_file
from headgate.gateway.checkpoint.point_copy import FilesGoneError, Kept, file_table, keep_newest
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.files.evidence_files import Settings, explained_errors
from headgate.model.restore_points import RestorePoint

_SUFFIX = ".headgate-points"
_PART = ".part-"
_SINK = ".sink"


class PointDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `ID.json` holds: the point, and the bytes of each of its files."""

    point: RestorePoint
    sizes: dict[str, int]


def points_folder(checkpoint: str) -> str:
    """Return where the points of a checkpoint are."""
    if is_remote(checkpoint):
        return checkpoint.rstrip("/") + _SUFFIX
    path = local_path(checkpoint)
    return str(path.with_name(f".{path.name}{_SUFFIX}"))


def point_location(checkpoint: str, id: str) -> str:
    """Return where a point's copy of the checkpoint is."""
    return f"{points_folder(checkpoint)}/{id}"


def keep(checkpoint: str, id: str, settings: Settings) -> Kept:
    """Keep the newest batch as the point `id`; without `record` it does not count yet."""
    location = point_location(checkpoint, id)
    if is_remote(checkpoint):
        from headgate.gateway.checkpoint.remote_point import keep_remote

        return keep_remote(checkpoint, location, settings)
    source, target = local_path(checkpoint), Path(location)
    draft = target.with_name(f"{_PART}{id}")
    found = keep_newest(source, draft, target)
    try:
        draft.rename(target)
        sync(target.parent)
    except OSError as error:
        raise StepError(
            f"{draft} could not be moved to {target}: {error.strerror}. Check disk space and "
            "permissions, then try again"
        ) from error
    return found


def keep_sink_log(checkpoint: str, id: str, target: str, batch: int) -> str | None:
    """Keep a file sink's log as it is at the batch; None where its folder has none.

    FilesGoneError where a file of it is gone already.
    """
    folder = local_path(target)
    if spark_metadata.newest_batch(folder) is None:
        return None
    to = Path(f"{point_location(checkpoint, id)}{_SINK}")
    try:
        spark_metadata.copy_sink_log(folder, batch, to)
        problem = spark_metadata.log_problem(to, batch)
    except (StepError, FileNotFoundError) as error:
        raise FilesGoneError(target, batch, error) from error
    if problem:
        raise FilesGoneError(target, batch, problem)
    return str(to)


def record(point: RestorePoint, sizes: dict[str, int], settings: Settings) -> None:
    """Write the point's document: from here on it counts."""
    if point.location is None:
        return
    data = msgspec.json.encode(PointDocument(point=point, sizes=sizes))
    if is_remote(point.location):
        from headgate.gateway.checkpoint.remote_point import write_document

        write_document(f"{point.location}.json", data, settings)
    else:
        write_file(Path(f"{point.location}.json"), data.decode())


@dataclass(frozen=True, slots=True)
class Recorded:
    """Whole points by id; `unreadable` says by id why a document can't be read at present."""

    points: dict[str, RestorePoint] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


def recorded(checkpoint: str, settings: Settings, *, known: Set[str] = frozenset()) -> Recorded:
    """Return the points of a checkpoint that have a document, whoever made them, but `known`."""
    folder, found = points_folder(checkpoint), Recorded()
    for id in sorted(_documented(_top_names(folder, settings)) - known):
        try:
            document = _document(f"{folder}/{id}", settings)
        except HeadgateError as error:
            found.unreadable[id] = str(error)
            continue
        if document is not None:
            found.points[id] = document.point
    return found


def _top_names(folder: str, settings: Settings) -> Iterable[str]:
    if is_remote(folder):
        from headgate.gateway.checkpoint.remote_point import stored_points

        return stored_points(folder, settings, whole=False)
    return [p.name for p in _entries(Path(folder))]


def _documented(names: Iterable[str]) -> set[str]:
    return {
        name.removesuffix(".json")
        for name in names
        if name.endswith(".json")
        and not name.endswith(".manifest.json")
        and "/" not in name
        and not name.startswith(".")
    }


def remove_leftovers(checkpoint: str, settings: Settings) -> None:
    """Remove what has no document; only for who holds the lock of the pipeline's points.

    A document that can't be read counts: the file system may be busy, or a newer Headgate wrote it.
    """
    folder = points_folder(checkpoint)
    if is_remote(checkpoint):
        from headgate.gateway.checkpoint.remote_point import id_of, remove_point, stored_points

        names = stored_points(folder, settings)
        for id in {id_of(n) for n in names} - _documented(names):
            remove_point(f"{folder}/{id}", settings)
        return
    entries = _entries(Path(folder))
    whole = _documented(p.name for p in entries)
    for entry in entries:
        if entry.is_dir() and entry.name.removesuffix(_SINK) not in whole:
            remove_tree(entry)


def remove(point: RestorePoint, settings: Settings) -> None:
    """Remove a point: its document first. Fine if it is gone."""
    if point.location is None:
        return
    if is_remote(point.location):
        from headgate.gateway.checkpoint.remote_point import remove_point

        remove_point(point.location, settings)
        return
    path = Path(point.location)
    Path(f"{path}.json").unlink(missing_ok=True)
    remove_tree(path)
    remove_tree(Path(f"{path}{_SINK}"))


def damage(point: RestorePoint, settings: Settings) -> str | None:
    """Return which of the point's files is gone or has another size; None: all are as they were.

    EvidenceError or UnreachableError where its document can't be read: nobody knows then.
    """
    if point.location is None:
        return None
    document = _document(point.location, settings)
    if document is None:
        return f"restore point {point.id} is missing: {point.location}.json not found"
    if is_remote(point.location):
        from headgate.gateway.checkpoint.remote_point import stored_points

        there = stored_points(point.location, settings)
    else:
        there = {name: at.st_size for name, at in file_table(Path(point.location))}
    for name, size in document.sizes.items():
        if there.get(name) != size:
            now = f"has {there[name]} bytes instead of {size}" if name in there else "is missing"
            return f"{point.location}/{name} {now}"
    return None


def distinct_bytes(points: Iterable[RestorePoint]) -> int:
    """Return how many bytes points take at most: a file that several share counts once.

    Files that the checkpoint still has count, too: they stay when Spark deletes them there.
    """
    seen: dict[tuple[int, int], int] = {}
    copies = 0
    for point in points:
        if point.location is None:
            continue
        if is_remote(point.location):
            copies += point.bytes
            continue
        for _, found in file_table(Path(point.location)):
            seen[found.st_dev, found.st_ino] = found.st_size
    return copies + sum(seen.values())


def held_bytes(points: Iterable[RestorePoint]) -> int:
    """Return how many bytes only these points hold: what removing all of them frees."""
    links: dict[tuple[int, int], list[int]] = {}
    copies = 0
    for point in points:
        if point.location is None:
            continue
        if is_remote(point.location):
            copies += point.bytes
            continue
        for _, found in file_table(Path(point.location)):
            key = (found.st_dev, found.st_ino)
            entry = links.setdefault(key, [found.st_size, found.st_nlink, 0])
            entry[2] += 1
    return copies + sum(size for size, links_, ours in links.values() if links_ <= ours)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EvidenceError(f"{folder} can't be read: {error.strerror}") from error


def _document(location: str, settings: Settings) -> PointDocument | None:
    """Return a point's document, None where it is gone; see `damage` for errors."""
    name = f"{location}.json"
    try:
        with explained_errors(name):
            if is_remote(location):
                from headgate.gateway.checkpoint.remote_point import read_document

                data = read_document(name, settings)
            else:
                data = Path(name).read_bytes()
            return msgspec.json.decode(data, type=PointDocument)
    except HeadgateError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
