"""Make a copy of a checkpoint that ends at one of its batches; the original is only read.

State data are linked if the file system allows it. What is small and could be edited by hand is
copied: logs and metadata. State of later batches is left out: if the query reprocesses them with
other input, Spark would load a later snapshot of the old run in place of what it has just written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.checkpoint.batches import LOGS, file_source_offsets
from headgate.gateway.checkpoint.copy import point_to
from headgate.gateway.checkpoint.folders import (
    check_disk_space,
    copy_error,
    is_state_data,
    own_like,
    remove_tree,
    sync_tree,
)
from headgate.gateway.checkpoint.history import add_turn
from headgate.gateway.checkpoint.rewind_facts import foreign_schema_files
from headgate.model.restore_points import Turn
from headgate.parse.spark.checkpoint.source_log import cut_entries
from headgate.parse.spark.checkpoint.state_versions import version_of

_BATCH = re.compile(r"\.?(\d+)(?:\.compact)?(?:\..*)?")
_SCHEMA = re.compile(r"(\d+)_[0-9a-f-]+")
OnProgress = Callable[[int], None]


@dataclass(slots=True)
class _Copy:
    source: Path
    target: Path
    batch: int
    on_progress: OnProgress
    done: int = 0
    linking: bool = True
    logs: dict[str, int] = field(default_factory=dict)


def copy_to_batch(
    source: Path,
    target: Path,
    batch: int,
    *,
    query_id: str | None = None,
    stands_at: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> None:
    """Make `target` the checkpoint as it was at the end of `batch`, forced to disk.

    `stands_at` is where the copy is moved to if `source` is a restore point and not the checkpoint.
    What an earlier try left at `target` is removed first. `query_id` replaces the query's own id.
    `on_progress` is called after every thousandth file with their number, and may raise. StepError
    if the disk is full or a file can't be read.
    """
    remove_tree(target)
    work = _Copy(source, target, batch, on_progress, logs=dict(file_source_offsets(source, batch)))
    try:
        target.mkdir()
        shutil.copystat(source, target)
        work.linking = _can_link(source, target)
        if not work.linking:
            check_disk_space(source, target.parent)
        _copy_folder(work, Path())
        for name, last in work.logs.items():
            cut_source_log(target / "sources" / name, last)
        if stands_at is not None:
            point_to(target, stands_at)
        elif any(foreign_schema_files(source)):
            point_to(target, str(source))
        if query_id is not None:
            rename_query(target / "metadata", query_id)
        # The name ends in the run's id.
        add_turn(target, Turn(id=target.name, batch=batch))
        own_like(target, source)
        sync_tree(target)
    except (OSError, shutil.Error, ValueError) as error:
        raise StepError(f"{source} could not be copied to {target}: {copy_error(error)}") from error


def _can_link(source: Path, target: Path) -> bool:
    probe = target / ".link"
    try:
        os.link(source / "metadata", probe)
    except OSError:
        return False
    probe.unlink()
    return True


def _copy_folder(work: _Copy, relative: Path) -> None:
    for entry in sorted(os.scandir(work.source / relative), key=lambda e: e.name):
        inner = relative / entry.name
        if not is_kept(inner, work.batch):
            continue
        if entry.is_dir(follow_symlinks=False):
            (work.target / inner).mkdir()
            _copy_folder(work, inner)
            shutil.copystat(work.source / inner, work.target / inner)
        else:
            _copy_file(work, inner)


def _copy_file(work: _Copy, relative: Path) -> None:
    source, target = work.source / relative, work.target / relative
    if work.linking and is_state_data(relative):
        os.link(source, target, follow_symlinks=False)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
    work.done += 1
    if work.done % 1000 == 0:
        work.on_progress(work.done)


def is_kept(path: Path, batch: int) -> bool:
    """Return whether the file belongs to the checkpoint at the end of the batch."""
    parts, name = path.parts, path.name
    if parts[0] in LOGS and len(parts) == 2:
        return _batch_of(name) <= batch
    if parts[0] != "state" or len(parts) < 4:
        return True
    if "v2" in parts and "_metadata" in parts:
        return _batch_of(name) <= batch
    if "_stateSchema" in parts:
        found = _SCHEMA.fullmatch(name.removeprefix(".").removesuffix(".crc"))
        return found is None or int(found[1]) <= batch
    version = version_of(name)
    return version is None or version <= batch + 1


def _batch_of(name: str) -> int:
    """Return the batch that a log's file is of, its checksum and drafts too; -1 of other files."""
    found = _BATCH.fullmatch(name)
    return int(found[1]) if found else -1


def cut_source_log(log: Path, last: int) -> None:
    """Forget the files that were taken later: the query finds and takes them again."""
    files = {p.name: p for p in log.iterdir() if p.name.removesuffix(".compact").isdecimal()}
    cut = cut_entries({name: p.read_bytes() for name, p in files.items()}, last)
    for name, path in files.items():
        if cut.get(name) != path.read_bytes():
            path.unlink()
            path.with_name(f".{name}.crc").unlink(missing_ok=True)
    for name, data in cut.items():
        if not (log / name).exists():
            (log / name).write_bytes(data)


def rename_query(metadata: Path, query_id: str) -> None:
    """Write another id of the query into a checkpoint's metadata."""
    found = json.loads(metadata.read_text()) | {"id": query_id}
    metadata.write_text(json.dumps(found, separators=(",", ":")))
    metadata.with_name(f".{metadata.name}.crc").unlink(missing_ok=True)
