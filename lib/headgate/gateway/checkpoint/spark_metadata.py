"""Cut a file sink's own log, `_spark_metadata` in its output, at the end of a batch."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headgate.errors import EvidenceError, StepError
from headgate.gateway.checkpoint.folders import remove_tree, sync, sync_tree
from headgate.model.restore_points import SinkLog
from headgate.parse.spark.checkpoint.reader import batches
from headgate.parse.spark.checkpoint.source_log import read_sink_entry
from headgate.parse.spark.checkpoint.spark_metadata import FOLDER

_COMPACT = ".compact"


def read_sink_log(target: Path, batch: int, kept: Path | None = None) -> SinkLog | None:
    """Return the log seen from the end of `batch`, None if the folder has none.

    `kept` is the log as a restore point kept it at that batch: if Spark has compacted the
    entries since, only `kept` shows which files are of earlier batches.
    """
    log = target / FOLDER
    if not log.is_dir():
        return None
    later = [n for n in _numbers(log) if n > batch]
    problem = log_problem(kept or log, batch) if later else None
    files = 0 if problem else sum(1 for _ in later_files(target, batch, kept))
    return SinkLog(target=str(target), later=tuple(later), files=files, problem=problem)


def newest_batch(target: Path) -> int | None:
    """Return the newest batch in the log of a local folder, None if it has no log."""
    log = target / FOLDER
    return newest_of(p.name for p in log.iterdir()) if log.is_dir() else None


def newest_of(names: Iterable[str]) -> int | None:
    """Return the newest batch among the names of a log's files, None if they name none."""
    return max((_number(n) for n in names if batches([n.removesuffix(_COMPACT)])), default=None)


def later_files(target: Path, batch: int, kept: Path | None = None) -> Iterator[str]:
    """Yield the files of output, relative to `target`, that batches after this one wrote."""
    log = target / FOLDER
    if not log.is_dir():
        return
    before: set[str] = set()
    after: dict[str, None] = {}
    if kept is not None:
        before = {str(f["path"]) for n in _names(kept) for f in _entry(kept / n)}
    for name in _names(log):
        found = [str(f["path"]) for f in _entry(log / name)]
        if _number(name) <= batch:
            before.update(found)
        else:
            after |= dict.fromkeys(found)
    for address in after:
        if address not in before and (path := _relative(address, target)) is not None:
            yield path


def copy_sink_log(target: Path, batch: int, to: Path, kept: Path | None = None) -> None:
    """Make `to` the log as it was at the end of `batch`; what an earlier try left goes first."""
    remove_tree(to)
    log = kept or target / FOLDER
    try:
        to.mkdir(parents=True)
        for entry in log.iterdir():
            number = _number(entry.name.removeprefix(".").removesuffix(".crc"))
            if entry.is_file() and number <= batch:
                shutil.copy2(entry, to / entry.name)
        shutil.copystat(log, to)
        sync_tree(to)
    except OSError as error:
        raise StepError(f"{log} could not be copied to {to}: {error.strerror}") from error


def move_files(folder: Path, to: Path, names: list[str]) -> None:
    """Move files below a folder to the same names below another, those that are still there.

    Where both are there the one at `to` is from an earlier try and the other one newer: it stays.
    """
    try:
        for name in names:
            source, target = folder / name, to / name
            for old, new in ((source, target), (_crc(source), _crc(target))):
                if old.is_file() and not new.exists():
                    new.parent.mkdir(parents=True, exist_ok=True)
                    old.rename(new)
        for place in {(to / name).parent for name in names}:
            if place.is_dir():
                sync(place)
    except OSError as error:
        raise StepError(
            f"{error.filename or folder} could not be moved to {to}: {error.strerror}"
        ) from error


def _crc(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc")


def log_problem(log: Path, batch: int) -> str | None:
    """Return why the log can't end at the batch: its newest `.compact` and all after must be there.

    A compacted file does not say which batch wrote a file, so a later one can't be taken apart.
    """
    names = {_number(n): n for n in _names(log) if _number(n) <= batch}
    start = max((k for k, n in names.items() if n.endswith(_COMPACT)), default=0)
    absent = [n for n in range(start, batch + 1) if n not in names]
    if not absent:
        return None
    kept = [_number(n) for n in _names(log) if n.endswith(_COMPACT)]
    first = f". Choose batch {min(kept)} or later" if kept else ""
    return f"{log} can't be truncated: the file of batch {absent[0]} is missing{first}"


def _numbers(log: Path) -> list[int]:
    return sorted({_number(n) for n in _names(log)})


def _names(log: Path) -> list[str]:
    """Return the names of the log's entries; where a batch has two, the compacted one."""
    found = [p.name for p in log.iterdir() if batches([p.name.removesuffix(_COMPACT)])]
    by_number = {_number(n): n for n in sorted(found, key=lambda n: n.endswith(_COMPACT))}
    return [by_number[n] for n in sorted(by_number)]


def _number(name: str) -> int:
    number = name.removesuffix(_COMPACT)
    return int(number) if number.isdecimal() else -1


def _entry(path: Path) -> tuple[dict[str, object], ...]:
    try:
        return read_sink_entry(path.read_bytes())
    except (OSError, ValueError) as error:
        step = "" if isinstance(error, OSError) else ". Restore the file from a copy"
        why = getattr(error, "strerror", None) or error
        raise EvidenceError(f"{path} can't be read: {why}{step}") from error


def _relative(address: str, target: Path) -> str | None:
    path = Path(unquote(urlsplit(address).path))
    return str(path.relative_to(target)) if path.is_relative_to(target) else None
