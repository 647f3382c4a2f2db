"""Open Spark's event logs: one file or a rolling folder, plain or packed, local or remote."""

from __future__ import annotations

import io
import itertools
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from headgate.errors import EvidenceError, UnreachableError
from headgate.gateway.files.addresses import is_uri
from headgate.gateway.files.decompress import (
    LIMITS,
    DamagedError,
    Limits,
    Opener,
    packing,
    unpacked,
)
from headgate.gateway.files.evidence_files import FileLocation, opened
from headgate.gateway.files.local import LocalFiles
from headgate.parse.spark.event_log.lines import holds_events, split_lines

if TYPE_CHECKING:
    import zipfile

    from _typeshed import WriteableBuffer as Buffer

    from headgate.parse.spark.event_log.gather import Keep
    from headgate.parse.spark.event_log.read import EventLog

_HEAD = 64 << 10
# A remote file answers each read with a request.
_BUFFER = 1 << 20
_ROLLED = re.compile(r"^events_(?P<number>\d{1,9})_.+?(?P<compact>\.compact)?$")


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a log that can be opened again; `packed` is its size in an archive."""

    name: str
    opener: Opener
    packed: int | None = None


@dataclass(frozen=True, slots=True)
class EventLogFiles:
    """The files of one log in their order; `warnings` say which are missing."""

    path: str
    files: tuple[_File, ...]
    warnings: tuple[str, ...] = ()

    def read(
        self, keep: Keep | None = None, most: int | None = None, limits: Limits = LIMITS
    ) -> EventLog:
        """Return what the log says; everything that can be read is read, the rest a warning.

        `keep` says of which queries to keep every progress report, the newest `most` of a run. A
        file that passes one of the `limits` is read up to there, and a warning says so.
        UnreachableError where a remote file system stops to answer.
        """
        # Imported here: whether a file is an event log is asked of each.
        from headgate.parse.spark.event_log.read import MOST_REPORTS, EventLogReader

        reader = EventLogReader(self.path, keep, MOST_REPORTS if most is None else most)
        for file in self.files:
            damage: list[str] = []
            reader.read(split_lines(_chunks(file, damage, limits)), file.name)
            for reason in damage:
                reader.broken_off(file.name, reason)
        log = reader.result()
        return replace(log, warnings=(*self.warnings, *log.warnings))


def is_rolling(names: Iterable[str]) -> bool:
    """Whether a folder with these files is a rolling event log."""
    return any(map(_ROLLED.match, names))


def rolling_log(folder: FileLocation, names: Iterable[str]) -> EventLogFiles:
    """Return the files of a rolling log that count: from the last compacted one on."""
    wanted = _rolled(names)
    files = tuple(_file(folder.below(name)) for _, _, name in wanted)
    return EventLogFiles(folder.name, files, _gaps(folder, wanted))


def _rolled(names: Iterable[str]) -> list[tuple[int, bool, str]]:
    """Return number, whether compacted, and name of the files from the last compacted one on."""
    found = sorted(
        (int(m["number"]), m["compact"] is not None, name)
        for name in names
        if (m := _ROLLED.match(name.rpartition("/")[2]))
    )
    compacted = [i for i, (_, is_compact, _) in enumerate(found) if is_compact]
    return found[compacted[-1] :] if compacted else found


def _gaps(folder: FileLocation, found: list[tuple[int, bool, str]]) -> tuple[str, ...]:
    first, is_compact, name = found[0]
    out = []
    if first > 1 and not is_compact:
        out.append(f"{folder.name} is incomplete: event log files before {name} are missing")
    for (before, _, name), (number, _, _) in itertools.pairwise(found):
        if number > before + 1:
            out.append(f"{folder.name} lacks event log files between {name} and events_{number}")
    return tuple(out)


def event_log(place: FileLocation) -> EventLogFiles | None:
    """Return a file's log, None where its first bytes are no event log's.

    What can't be read twice, as a shell's pipe, is none either: `event_log_of` takes its bytes.
    """
    if _is_pipe(place):
        return None
    file = _file(place)
    return EventLogFiles(place.name, (file,)) if _is_log(file) else None


def event_log_of(data: bytes, name: str) -> EventLogFiles | None:
    """Return the log that bytes are, None where they are none."""
    file = _File(name, lambda: io.BytesIO(data))
    return EventLogFiles(name, (file,)) if _is_log(file) else None


def _is_pipe(place: FileLocation) -> bool:
    if not isinstance(place.files, LocalFiles):
        return False
    try:
        return not stat.S_ISREG(Path(place.path).stat().st_mode)
    except OSError:
        return False


def _file(place: FileLocation) -> _File:
    return _File(place.name, lambda: io.BufferedReader(_Guarded(place), _BUFFER))


def _is_log(file: _File) -> bool:
    """Whether the first bytes hold an event, also of a packed file."""
    with file.opener() as stream:
        head = stream.read(_HEAD)
    if packing(head) is None:
        return holds_events(head)
    try:
        return holds_events(next(unpacked(file.opener, head), b""))
    except DamagedError:
        return False


def _chunks(file: _File, damage: list[str], limits: Limits) -> Iterator[bytes]:
    with file.opener() as stream:
        head = stream.read(_HEAD)
    try:
        yield from unpacked(file.opener, head, packed=file.packed, limits=limits)
    except DamagedError as error:
        damage.append(str(error))


class _Guarded(io.RawIOBase):
    """A stream of a file location, which raises our errors also while it is read."""

    def __init__(self, place: FileLocation) -> None:
        self._place = place
        self._stream = opened(place)

    def readable(self) -> bool:
        """Return that it is, for the buffer around it."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read the next bytes; UnreachableError or EvidenceError where that fails."""
        view = memoryview(buffer)
        try:
            data = self._stream.read(len(view))
        except (OSError, ValueError) as error:
            reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:200]
            name = self._place.name
            if is_uri(name) and not name.startswith("file:"):
                raise UnreachableError(f"{name} stopped responding: {reason}") from error
            raise EvidenceError(f"{name} can't be read: {reason}") from error
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the location's stream, too."""
        if not self.closed:
            self._stream.close()
        super().close()


def zipped_logs(archive: zipfile.ZipFile, name: str) -> EventLogFiles | None:
    """Return the log that an archive of a History Server holds, None where it holds none.

    Of several attempts in one archive the last folder's files are taken, as of a rolling log.
    """
    members = [m.filename for m in archive.infolist() if not m.is_dir() and m.file_size]
    folders = sorted({m.rpartition("/")[0] for m in members})
    inside = [m for m in members if m.rpartition("/")[0] == folders[-1]] if folders else []
    wanted = [member for *_, member in _rolled(inside)] or inside
    files = tuple(
        _File(f"{name} {m}", lambda m=m: _member(archive, m), archive.getinfo(m).compress_size)  # type: ignore[misc]
        for m in wanted
    )
    files = tuple(f for f in files if _is_log(f))
    return EventLogFiles(name, files) if files else None


def _member(archive: zipfile.ZipFile, name: str) -> BinaryIO:
    return archive.open(name)  # type: ignore[return-value]
