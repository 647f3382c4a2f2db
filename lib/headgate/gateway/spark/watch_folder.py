"""Open the files that `headgate.watch` wrote into a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from headgate.errors import EvidenceError, UnreachableError
from headgate.gateway.files.evidence_files import FileLocation, entries, opened, read, together
from headgate.parse.spark.watch.mark import PART, is_watch

if TYPE_CHECKING:
    from headgate.parse.spark.event_log.gather import Keep
    from headgate.parse.spark.watch.read import Watched

# Each part tells anew who runs and by which plan, so the newest ones alone say how it is now.
_NEWEST_RUNS = 200
_LARGEST = 64 << 20
_PEEK = 200
_END = 512 << 10


def watch_parts(folder: FileLocation, names: Iterable[str]) -> list[str]:
    """Return those of the files that a watch wrote, in the order of writing."""
    found = sorted((m["begun"], m["run"], m["number"], n) for n in names if (m := PART.match(n)))
    wanted = [name for *_, name in found]
    heads = together(folder, lambda n: _head(folder.below(n)), wanted)
    return [n for n, head in zip(wanted, heads, strict=True) if is_watch(head)]


def read_watch_files(
    folder: FileLocation, names: Iterable[str], keep: Keep | None = None, most: int | None = None
) -> Watched:
    """Return what the files say together; one that can't be read is a warning."""
    return _read_parts(folder, names, _lines, keep, most)


def _read_parts(
    folder: FileLocation,
    names: Iterable[str],
    lines: Callable[[FileLocation], Iterable[bytes]],
    keep: Keep | None,
    most: int | None = None,
) -> Watched:
    # Imported here: whether a folder is a watch's is asked of each.
    from headgate.parse.spark.event_log.read import MOST_REPORTS
    from headgate.parse.spark.watch.read import WatchReader

    reader = WatchReader(folder.name, keep, MOST_REPORTS if most is None else most)
    failures = []
    for name in names:
        place = folder.below(name)
        try:
            reader.read(lines(place), place.name)
        except (EvidenceError, UnreachableError) as error:
            failures.append(str(error))
    found = reader.result()
    log = replace(found.log, warnings=(*failures, *found.log.warnings))
    return replace(found, log=log)


def newest_parts(folder: FileLocation, query_id: str) -> list[str]:
    """Return the names of the last parts of a query's runs, the newest run first.

    A part begins with who runs and by what plan.
    """
    found = (PART.match(e.name) for e in entries(folder) if not e.is_folder)
    mine = sorted((m["begun"], m["number"], m) for m in found if m and m["query"] == query_id)
    last = {m["run"]: m.string for *_, m in mine}
    return list(reversed(last.values()))


def newest_watch_files(folder: FileLocation) -> Watched:
    """Return how the newest runs are: of each the ends of its last part are read, and no more."""
    newest: dict[str, str] = {}
    for name in sorted(e.name for e in entries(folder) if not e.is_folder):
        if match := PART.match(name):
            newest[match["begun"] + match["query"] + match["run"]] = name
    wanted = [newest[key] for key in sorted(newest)[-_NEWEST_RUNS:]]
    return _read_parts(folder, wanted, _ends, None)


def _head(place: FileLocation) -> bytes:
    try:
        with opened(place) as stream:
            return stream.read(_PEEK)
    except (EvidenceError, UnreachableError, OSError):
        return b""


def _lines(place: FileLocation) -> list[bytes]:
    return read(place, _LARGEST).splitlines(keepends=True)


def _ends(place: FileLocation) -> list[bytes]:
    """Return the first and the last lines: who runs, and how it is now."""
    try:
        with opened(place) as stream:
            head = stream.read(_END)
            if len(head) < _END or not stream.seekable():
                return (head + stream.read(_LARGEST)).splitlines(keepends=True)
            at = max(stream.seek(0, 2) - _END, _END)
            stream.seek(at)
            tail = stream.read(_LARGEST)
    except OSError as error:
        raise EvidenceError(f"{place.name} can't be read: {error.strerror or error}") from error
    # A line that is cut at either side is left out.
    first = head.splitlines(keepends=True)[:-1]
    return [*first, *tail.splitlines(keepends=True)[1:]]
