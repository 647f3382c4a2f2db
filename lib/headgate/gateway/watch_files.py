"""Open the files that `headgate.watch` wrote into a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from headgate.errors import EvidenceError, UnreachableError
from headgate.gateway.evidence_files import Place, entries, opened, read, together
from headgate.parse.spark.event_log import MOST_REPORTS
from headgate.parse.spark.event_log_gather import Keep
from headgate.parse.spark.watch import Watched, WatchReader
from headgate.parse.spark.watch_lines import is_watch

PART = re.compile(
    r"(?P<query>[0-9a-f-]{36})_(?P<begun>\d{8}T\d{9}Z)_(?P<run>[0-9a-f]{8})_(?P<number>\d{6})\.jsonl"
)
"""The name of a part, as `headgate.driver.places` makes it: only its order is taken from it."""
# Each part tells anew who runs and by which plan, so the newest ones alone say how it is now.
_NEWEST_RUNS = 200
_LARGEST = 64 << 20
_PEEK = 200


def watch_parts(folder: Place, names: Iterable[str]) -> list[str]:
    """Return those of the files that a watch wrote, in the order of writing."""
    found = sorted((m["begun"], m["run"], m["number"], n) for n in names if (m := PART.match(n)))
    wanted = [name for *_, name in found]
    heads = together(folder, lambda n: _head(folder.below(n)), wanted)
    return [n for n, head in zip(wanted, heads, strict=True) if is_watch(head)]


def read_watch_files(
    folder: Place, names: Iterable[str], keep: Keep | None = None, most: int = MOST_REPORTS
) -> Watched:
    """Return what the files say together; one that can't be read is a warning."""
    reader = WatchReader(folder.name, keep, most)
    failures = []
    for name in names:
        place = folder.below(name)
        try:
            reader.read(_lines(place), place.name)
        except (EvidenceError, UnreachableError) as error:
            failures.append(str(error))
    found = reader.result()
    log = replace(found.log, warnings=(*failures, *found.log.warnings))
    return replace(found, log=log)


def newest_watch_files(folder: Place) -> Watched:
    """Return how the newest runs are: of each the last two parts are read, and no others."""
    newest: dict[tuple[str, str], list[str]] = {}
    names = [e.name for e in entries(folder) if not e.is_folder and PART.match(e.name)]
    for name in sorted(names, key=lambda n: n.partition("_")[2]):
        match = PART.match(name)
        assert match is not None
        key = match["query"], match["run"]
        newest[key] = [*newest.pop(key, ()), name][-2:]
    wanted = [n for parts in list(newest.values())[-_NEWEST_RUNS:] for n in parts]
    return read_watch_files(folder, wanted)


def _head(place: Place) -> bytes:
    try:
        with opened(place) as stream:
            return stream.read(_PEEK)
    except (EvidenceError, UnreachableError, OSError):
        return b""


def _lines(place: Place) -> Iterator[bytes]:
    yield from read(place, _LARGEST).splitlines(keepends=True)
