"""Keep a checkpoint as it is at the end of its newest batch, while its query runs.

Only what that batch needs is kept: of each store the newest snapshot and the changes after it, the
log entries of those versions, the sources' logs and the metadata. Data of stores are linked where
the file system can: Spark never writes into such a file again once it has its name (see
`folders.is_state_data`), it only deletes it, and a link outlives that.

A running query deletes meanwhile what is older than `minBatchesToRetain`, merges small logs, and
RocksDB's maintenance removes files that no snapshot needs any more. So the commit is read first,
then files are linked, then the copy is read as a rewind reads it. What lacks a file is thrown away,
and a later commit is tried.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import EvidenceError, StepError
from headgate.gateway.checkpoint.batches import (
    LOGS,
    commit_of,
    file_source_offsets,
    logged,
    offsets_of,
)
from headgate.gateway.checkpoint.copy import point_to
from headgate.gateway.checkpoint.folders import (
    check_disk_space,
    copy_error,
    is_state_data,
    read_checkpoint,
    remove_tree,
    sync,
)
from headgate.gateway.checkpoint.history import HISTORY
from headgate.gateway.checkpoint.rewind_copy import cut_source_log, is_kept
from headgate.gateway.checkpoint.rewind_facts import read_rewind, store_files

_TRIES = 5
# Folders of RocksDB: which of their files are needed, a snapshot says.
_DATA = frozenset({"SSTs", "logs", "archive"})


class FilesGoneError(StepError):
    """The query removed a file of the batch before it was kept: a later batch may do better."""

    def __init__(self, source: object, batch: int, why: object) -> None:
        self.batch, self.why = batch, str(why)
        super().__init__(
            f"{source}: Spark removed files of batch {batch} before Headgate copied the "
            f"files ({why}). If this repeats, raise spark.sql.streaming.minBatchesToRetain"
        )


def nothing_done(source: object) -> StepError:
    """Return the error of a checkpoint that has no batch to keep."""
    return StepError(
        f"checkpoint {source} has no completed batch to copy. Start the query, and wait until "
        "a batch completes"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What was kept: `sizes` are the bytes of each file by its path, `linked` says how."""

    batch: int
    sizes: dict[str, int]
    linked: bool


def newest_batch(source: Path) -> int | None:
    """Return the newest batch that is planned and committed, None where there is none."""
    done = set(logged(source, "commits"))
    return max((n for n in logged(source, "offsets") if n in done), default=None)


def keep_newest(source: Path, draft: Path, stands_at: Path) -> Kept:
    """Make `draft` the checkpoint at the end of its newest batch; it is to be moved to `stands_at`.

    FilesGoneError where a query took files away faster than they were kept, five times; StepError
    where there is no committed batch, or the disk is full.
    """
    error: FilesGoneError | None = None
    for _ in range(_TRIES):
        batch = newest_batch(source)
        if batch is None:
            raise nothing_done(source)
        try:
            return keep_batch(source, draft, batch, stands_at)
        except FilesGoneError as gone:
            error = gone
    assert error is not None
    raise error


def keep_batch(source: Path, draft: Path, batch: int, stands_at: Path) -> Kept:
    """Make `draft` the checkpoint at the end of `batch`, forced to disk and read back."""
    remove_tree(draft)
    try:
        linked = _copy(source, draft, batch, stands_at)
        missing = read_rewind(draft, batch).missing
    except (FileNotFoundError, EvidenceError) as error:
        raise FilesGoneError(source, batch, copy_error(error)) from error
    except (OSError, shutil.Error) as error:
        if _is_gone(error):
            raise FilesGoneError(source, batch, copy_error(error)) from error
        raise StepError(
            f"{source} could not be copied to {draft}: {copy_error(error)}. Check disk space and "
            "permissions, then try again"
        ) from error
    except ValueError as error:
        raise StepError(
            f"{source} could not be copied to {draft}: {error}. Run `headgate plan repair` to "
            "check the checkpoint"
        ) from error
    if missing:
        raise FilesGoneError(source, batch, missing[0])
    found = read_checkpoint(str(draft))
    if found is None or found.head != (batch, batch):
        raise FilesGoneError(
            source, batch, "the copied offset and commit logs don't end at this batch"
        )
    sizes = {name: found.st_size for name, found in file_table(draft)}
    return Kept(batch=batch, sizes=sizes, linked=linked)


def file_table(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file below a folder by its path in there, with what the file system says of it.

    What is removed meanwhile is left out.
    """
    yield from _table(os.fspath(folder), "")


def _table(folder: str, base: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _table(entry.path, f"{base}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            with suppress(FileNotFoundError):
                yield base + entry.name, entry.stat(follow_symlinks=False)


def _is_gone(error: OSError | shutil.Error) -> bool:
    """Whether a copy of many files failed because one of them is gone."""
    return isinstance(error, shutil.Error) and "No such file" in str(error)


def _copy(source: Path, draft: Path, batch: int, stands_at: Path) -> bool:
    draft.mkdir(parents=True)
    shutil.copystat(source, draft)
    wanted = wanted_files(source, batch)
    linked = _can_link(source, draft)
    if not linked:
        check_disk_space(source, draft.parent)
    folders, copies = {Path()}, []
    for relative in wanted:
        if relative.parent not in folders:
            (draft / relative.parent).mkdir(parents=True, exist_ok=True)
            folders |= {relative.parent, *relative.parent.parents}
        for name in (relative, relative.with_name(f".{relative.name}.crc")):
            if name is relative or (source / name).is_file():
                link = linked and is_state_data(name)
                _keep(source / name, draft / name, link)
                copies += [] if link else [name]
    folders |= set(_partition_folders(source, draft))
    for log, last in dict(file_source_offsets(draft, batch)).items():
        if (draft / "sources" / log).is_dir():
            cut_source_log(draft / "sources" / log, last)
    point_to(draft, str(stands_at))
    _own_like(source, draft, (*folders, *copies))
    _force(draft)
    return linked


def _own_like(source: Path, draft: Path, names: Iterable[Path]) -> None:
    """Give what was made here the owner that it has in the checkpoint; a link has it already."""
    for name in names:
        with suppress(FileNotFoundError):
            wanted, found = (source / name).lstat(), (draft / name).lstat()
            if (found.st_uid, found.st_gid) != (wanted.st_uid, wanted.st_gid):
                os.chown(draft / name, wanted.st_uid, wanted.st_gid, follow_symlinks=False)


def _force(draft: Path) -> None:
    """Force copied files to disk, then the folder.

    A folder of each partition would cost a write of the journal each. Names that a loss of power
    takes all the same are found: the point's document has every name and size.
    """
    for log in (*LOGS, "sources"):
        for path in (draft / log).rglob("*"):
            if path.is_file():
                sync(path)
    sync(draft / "metadata")
    sync(draft)


def _keep(source: Path, target: Path, link: bool) -> None:
    if link:
        os.link(source, target, follow_symlinks=False)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def _can_link(source: Path, draft: Path) -> bool:
    probe = draft / ".link"
    try:
        os.link(source / "metadata", probe)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    probe.unlink()
    return True


def wanted_files(source: Path, batch: int) -> list[Path]:
    """Return the files that the end of `batch` needs, without checksums.

    EvidenceError where a store lacks one. The logs reach back to the oldest version that is loaded:
    in checkpoint format 2 the commits say which files are those of a version.
    """
    commit_of(source, batch)
    offsets_of(source, batch)
    stores = list(store_files(source, batch))
    if lacks := next((s.missing for s in stores if s.missing), None):
        raise EvidenceError(lacks)
    oldest = min((s.oldest for s in stores), default=batch + 1)
    first = min(oldest - 2, batch - 1)
    found = [Path("metadata"), *(Path(n) for n in (HISTORY,) if (source / n).is_file())]
    for log in LOGS:
        found += [Path(log, str(n)) for n in logged(source, log) if first <= n <= batch]
    found += [p.relative_to(source) for s in stores for p in s.files]
    found += [p for p in _others(source, Path()) if is_kept(p, batch)]
    return list(dict.fromkeys(found))


def _others(source: Path, folder: Path) -> Iterator[Path]:
    """Yield the sources' logs, and the schemas and metadata of operators and stores."""
    for entry in sorted(os.scandir(source / folder), key=lambda e: e.name):
        inner = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            if inner.parts[0] not in LOGS and entry.name not in _DATA:
                yield from _others(source, inner)
        elif len(inner.parts) > 1 and not entry.name.startswith(".") and not is_state_data(inner):
            yield inner


def _partition_folders(source: Path, draft: Path) -> Iterator[Path]:
    """Make the folders of partitions that have no file yet, and yield them all."""
    for folder in source.glob("state/*/*"):
        if folder.name.isdecimal() and folder.is_dir():
            name = folder.relative_to(source)
            (draft / name).mkdir(parents=True, exist_ok=True)
            yield name
