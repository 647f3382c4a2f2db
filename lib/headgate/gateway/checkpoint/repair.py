"""Read what a checkpoint's repair is judged by, and make a repaired copy beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from headgate.errors import EvidenceError, RefusedError, StepError
from headgate.gateway.checkpoint import folders as checkpoints
from headgate.gateway.checkpoint.files import read_checkpoint_files
from headgate.gateway.files.evidence_files import find
from headgate.parse.spark.checkpoint.checkpoint import batches
from headgate.parse.spark.checkpoint.spark_metadata import FOLDER
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit

_LARGEST = 8 << 20
_NEWEST = 6


def read_files(location: str, sink: str | None = None) -> CheckpointFiles | None:
    """Return a local checkpoint's files, None where there is no folder or nothing of a query in it.

    `sink` is the folder of a file sink. EvidenceError where something can't be read.
    """
    folder = checkpoints.local_path(location)
    if not folder.is_dir():
        return None
    try:
        names = frozenset(_names(folder))
        if not names & {"offsets/", "commits/", "metadata"}:
            return None
        place = find(str(folder))
        assert place is not None
        files, _, _ = read_checkpoint_files(place)
        more = {n: _content(folder / n) for n in _wanted(names) - files.keys()}
    except OSError as error:
        raise EvidenceError(
            f"{error.filename or folder} can't be read: {error.strerror}"
        ) from error
    return CheckpointFiles(
        location=str(folder),
        names=names,
        files={n: d for n, d in {**files, **more}.items() if d is not None},
        sink_batch=_sink_batch(sink) if sink else None,
    )


def _names(folder: Path) -> Iterator[str]:
    """Yield every file and folder but what is hidden: checksums, drafts."""
    for base, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        relative = Path(base).relative_to(folder).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        yield from (f"{prefix}{f}/" for f in folders)
        yield from (f"{prefix}{n}" for n in names if not n.startswith("."))


def _wanted(names: frozenset[str]) -> set[str]:
    """Return the entries that a start reads, and all that no batch has taken yet."""
    wanted = {"metadata"} & names
    done = batches(n.removeprefix("commits/") for n in names if n.startswith("commits/"))
    last = done[-1] if done else -1
    for log in ("offsets", "commits"):
        numbers = batches(n.removeprefix(f"{log}/") for n in names if n.startswith(f"{log}/"))
        kept = {*numbers[-_NEWEST:], *(b for b in numbers if b > last or b == last - 1)}
        wanted |= {f"{log}/{b}" for b in kept}
    return wanted | {n for n in names if n.startswith("sources/") and not n.endswith("/")}


def _content(file: Path) -> bytes | None:
    """Return a small file; a large one is the log of a file source, whose name is enough."""
    return file.read_bytes() if file.stat().st_size <= _LARGEST else None


def _sink_batch(sink: str) -> int | None:
    """Return the newest batch that a file sink has; None where it has no log, or is remote."""
    try:
        folder = checkpoints.local_path(sink) / FOLDER
        found = [n.removesuffix(".compact") for n in os.listdir(folder)]  # noqa: PTH208
    except (OSError, RefusedError):
        return None
    return max(batches(found), default=None)


def make_repaired(source: Path, target: Path, edits: Iterable[Edit]) -> None:
    """Copy a checkpoint and make the edits in the copy; what an earlier try left goes first.

    Files are linked: an edit removes a name or puts a new file under it, so that the original
    stays as it is. StepError where the disk is full.
    """
    checkpoints.copy_tree(source, target)
    edit_files(target, edits)


def edit_files(target: Path, edits: Iterable[Edit]) -> None:
    """Make the edits in a copy of a checkpoint; each puts a new file in place of the old name."""
    for edit in edits:
        file = target / edit.path
        if not file.resolve().is_relative_to(target.resolve()):
            raise StepError(
                f"Headgate didn't change {edit.path}: the file is outside the checkpoint. Run "
                "`headgate plan` again"
            )
        # A checksum of other bytes would be believed.
        for path in (file.with_name(f".{file.name}.crc"), *([file] if edit.text is None else [])):
            _remove(path)
        if edit.text is not None:
            checkpoints.write_file(file, edit.text)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
        checkpoints.sync(file.parent)
    except OSError as error:
        raise StepError(f"{file} could not be removed: {error.strerror}") from error
