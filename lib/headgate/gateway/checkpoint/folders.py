"""Checkpoint folders on a local file system: read, hashed, copied and moved in one step."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headgate.errors import EvidenceError, RefusedError, StepError
from headgate.gateway.checkpoint import batch_times
from headgate.gateway.checkpoint.history import read_history
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.text.json_text import read_json
from headgate.text.numbers import size

_LAST_BATCHES = 6
_CHECK = "Check disk space and permissions, then try again"
_ERRNO = re.compile(r"\[Errno \d+\] ([^:]+)")
_BLOCK = 1 << 20
_SMALL, _BYTES = 64 << 10, float("inf")


def local_path(location: str) -> Path:
    """Return the folder of a path or a `file:` URI, links resolved; RefusedError for others."""
    parts = urlsplit(location)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise RefusedError(
            f"{location} is on a remote file system, where Headgate can't rename a folder "
            "atomically: use a path on this machine, local or mounted"
        )
    path = unquote(parts.path) if parts.scheme else location
    return Path(path).resolve()


def read_checkpoint(location: str) -> Checkpoint | None:
    """Return the checkpoint there, None if there is none (no folder, or nothing of a query).

    EvidenceError if `metadata` isn't what Spark writes for a query (`{"id": "<uuid>"}`), or is
    missing beside a log of batches.
    """
    folder = local_path(location)
    metadata = folder / "metadata"
    try:
        text = metadata.read_text(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        if _batches(folder / "offsets"):
            raise EvidenceError(
                f"{metadata} is missing, but the offset log exists: `headgate plan repair` "
                "restores the file"
            ) from None
        return None
    except OSError as error:
        raise EvidenceError(f"{metadata} can't be read: {error.strerror}") from error
    offsets = _batches(folder / "offsets")
    return Checkpoint(
        location=str(folder),
        query_id=_query_id(text, metadata),
        last_offset_batch=max(offsets, default=None),
        last_commit_batch=max(_batches(folder / "commits"), default=None),
        offsets=_kafka_offsets(folder / "offsets", offsets),
        batch_seconds=batch_times.batch_seconds(folder),
        busy_seconds=batch_times.busy_seconds(folder),
        quiet_seconds=batch_times.quiet_seconds(folder),
        fixed=_fixed(folder),
        history=read_history(folder),
    )


def _query_id(text: str, path: Path) -> str:
    try:
        found = read_json(text)
        return str(found["id"])
    except (ValueError, KeyError, TypeError):
        raise EvidenceError(
            f"{path} isn't a checkpoint's `metadata` file: the file has no query id. Run "
            "`headgate plan repair`"
        ) from None


def _batches(log: Path) -> list[int]:
    """Return the batch numbers of a log folder; Spark's hidden and temporary files are no batch."""
    try:
        return sorted(int(name) for name in os.listdir(log) if name.isdecimal())  # noqa: PTH208
    except OSError:
        return []


def _kafka_offsets(log: Path, batches: list[int]) -> dict[str, dict[int, int]]:
    """Return the newest logged offset of every Kafka partition.

    A source without new data may be logged as `-`, so a few batches are read, oldest first.
    """
    found: dict[str, dict[int, int]] = {}
    for batch in batches[-_LAST_BATCHES:]:
        for line in _lines(log / str(batch))[2:]:
            for topic, parts in kafka_topics(_json(line)):
                found.setdefault(topic, {}).update(parts)
    return found


def kafka_topics(value: Any) -> Iterator[tuple[str, dict[int, int]]]:
    """Yield what looks like Kafka's offsets, {topic: {partition: offset}}, at any depth.

    The log's second format wraps each source's offset in an object, some of them as text.
    """
    if isinstance(value, str) and value.startswith("{"):
        value = _json(value)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and all(map(_is_partition, inner.items())):
            yield key, {int(p): int(o) for p, o in inner.items()}
        else:
            yield from kafka_topics(inner)


def _is_partition(item: tuple[Any, Any]) -> bool:
    key, value = item
    return str(key).isdecimal() and isinstance(value, int) and not isinstance(value, bool)


def _lines(path: Path) -> list[str]:
    # A running query removes old batches while we read.
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _fixed(folder: Path) -> str | None:
    """Return why the folder can't be renamed within its parent, None where it can."""
    if folder.is_mount():
        return (
            "the folder is a mount point, which can't be renamed. Use a folder below the "
            "mount point"
        )
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        return (
            f"Headgate has no permission to write to {folder.parent}. Give Headgate's user "
            "write access"
        )
    return None


def tree_hash(path: Path, *, whole: bool = True) -> str | None:
    """Return SHA-256 over the names, kinds and bytes of all below `path`, None without a folder.

    Rights and times are not in it. Without `whole` a file of a store's data (`is_state_data`) above
    64 KiB counts by its size and its time of writing, to the millisecond: nothing writes into it
    again, and a snapshot has the same one by a link. RefusedError if something can't be read.
    """
    try:
        return _tree_hash(path, whole) if path.is_dir() else None
    except OSError as error:
        raise RefusedError(
            f"{error.filename or path} can't be read: {error.strerror}. Check the "
            "permissions and the disk, then try again"
        ) from error


def _tree_hash(path: Path, whole: bool) -> str:
    digest = hashlib.sha256()
    for entry in _entries(path):
        relative = entry.relative_to(path)
        name = os.fsencode(relative)
        digest.update(b"%d:%s" % (len(name), name))
        is_quick = not whole and is_state_data(relative)
        digest.update(_content(entry, _SMALL if is_quick else _BYTES))
    return digest.hexdigest()


def _entries(path: Path) -> list[Path]:
    return sorted(path.rglob("*"), key=lambda p: os.fsencode(p))


def _content(entry: Path, most: float) -> bytes:
    if entry.is_symlink():
        return b"l" + os.fsencode(entry.readlink())
    if entry.is_dir():
        return b"d"
    facts = entry.stat()
    if facts.st_size > most:
        return b"t%d:%d" % (facts.st_size, facts.st_mtime_ns // 1_000_000)
    digest = hashlib.sha256()
    with entry.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return b"f" + digest.digest()


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder and force it to disk; what an earlier try left at `target` is removed first.

    On the same file system the state's data are linked, not copied: Spark 4.2 never writes into
    such a file again once it is named. Logs and metadata are copied, as somebody may edit them by
    hand. StepError if the disk space is too small or the copy fails.
    """
    remove_tree(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        linked = os.stat(source).st_dev == os.stat(target.parent).st_dev  # noqa: PTH116
        if not linked:
            check_disk_space(source, target.parent)
        shutil.copytree(
            source, target, symlinks=True, copy_function=_linker(source) if linked else shutil.copy2
        )
        own_like(target, source)
        sync_tree(target)
    except (OSError, shutil.Error) as error:
        raise StepError(
            f"{source} could not be copied to {target}: {copy_error(error)}. {_CHECK}"
        ) from error


def copy_error(error: Exception) -> str:
    """Return why a copy failed; if several files could not be copied, of the first one."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        file, _, why = error.args[0][0]
        told = _ERRNO.match(str(why))
        return f"{file}: {told[1] if told else why}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def sync_tree(folder: Path) -> None:
    """Force the names below a folder and its own to disk, and files that are not linked.

    A file with another name is on disk already: only its new name has to get there.
    """
    for path in (folder, *_entries(folder)):
        if path.is_symlink():
            continue
        if path.is_dir() or path.stat().st_nlink == 1:
            sync(path)
    sync(folder.parent)


def is_state_data(path: Path) -> bool:
    """Return whether a file, relative to its checkpoint, is data of a store, not a log or metadata.

    Measured on Spark 4.2.0: a batch that is done over makes a new file and renames it, with every
    provider (HDFS-backed, RocksDB, with changelogs, with ids).
    """
    inner = path.parts[2:] if path.parts[0] == "state" else ()
    return len(inner) > 1 and inner[0].isdecimal() and "_metadata" not in inner


def _linker(source: Path) -> Callable[[str, str], object]:
    def link(file: str, target: str) -> None:
        try:
            if is_state_data(Path(file).relative_to(source)):
                os.link(file, target, follow_symlinks=False)
                return
        except OSError:
            pass  # a file system without links: copied like the rest
        shutil.copy2(file, target, follow_symlinks=False)

    return link


def check_disk_space(source: Path, folder: Path) -> None:
    """Raise StepError if the folder's disk has no space for a copy of `source`."""
    needed = sum(p.stat().st_size for p in source.rglob("*") if p.is_file())
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise StepError(
            f"{folder} has {size(free)} free, but the copy of {source} needs {size(needed)}. Free "
            "disk space, then resume the run"
        )


def move(source: Path, target: Path) -> None:
    """Rename a folder in one step and force both names to disk; StepError where it fails."""
    if target.exists():
        raise StepError(
            f"{source} could not be moved: {target} already exists. Move {target} away, then "
            "resume the run"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        sync(target.parent)
        if source.parent != target.parent:
            sync(source.parent)
    except OSError as error:
        raise StepError(
            f"{source} could not be moved to {target}: {error.strerror}. {_CHECK}"
        ) from error


def make_like(path: Path, like: Path) -> None:
    """Make an empty folder with the owner and rights of `like`; fine if it is there."""
    try:
        path.mkdir(exist_ok=True)
        shutil.copymode(like, path)
        facts = like.stat()
        if (facts.st_uid, facts.st_gid) != (path.stat().st_uid, path.stat().st_gid):
            os.chown(path, facts.st_uid, facts.st_gid)
        sync(path.parent)
    except OSError as error:
        raise StepError(
            f"{path} could not be created with the permissions of {like}: {error.strerror}. "
            f"{_CHECK}"
        ) from error


def own_like(target: Path, source: Path) -> None:
    """Give everything in a copy the owner that it has in `source`, and new files the folder's.

    A query that runs under another account could not write its own checkpoint otherwise.
    """
    like = source.stat()
    for path in (target, *_entries(target)):
        found, wanted = path.lstat(), like
        with suppress(FileNotFoundError):
            wanted = (source / path.relative_to(target)).lstat()
        if (found.st_uid, found.st_gid) != (wanted.st_uid, wanted.st_gid):
            os.chown(path, wanted.st_uid, wanted.st_gid, follow_symlinks=False)


def remove_tree(path: Path) -> None:
    """Remove a folder; fine if it is gone."""
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StepError(f"{path} could not be removed: {error.strerror}. {_CHECK}") from error


def remove_at_once(path: Path) -> None:
    """Remove a folder so that its name never has a part of it, also after a kill.

    What a killed removal has left, under another name, goes with the next one.
    """
    rest = path.with_name(f"{path.name}.removed")
    remove_tree(rest)
    try:
        path.rename(rest)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StepError(f"{path} could not be removed: {error.strerror}. {_CHECK}") from error
    remove_tree(rest)


def write_file(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, also after a loss of power."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(path.name + ".part")
        draft.write_text(text)
        sync(draft)
        draft.replace(path)
        sync(path.parent)
    except OSError as error:
        raise StepError(f"{path} could not be written: {error.strerror}. {_CHECK}") from error


def sync(path: Path) -> None:
    """Force a file, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
