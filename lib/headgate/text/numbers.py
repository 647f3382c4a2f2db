"""Numbers, durations and times as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from headgate.text.near_names import near_names

NONE = "unknown"
# Of many only the first are named in a sentence.
_SHOWN = 5


def name_list(names: Iterable[str]) -> str:
    """Return the first names, sorted, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def span(part: tuple[str, int], begin: int, end: int) -> str:
    """Return a partition's offsets from `begin` up to `end`, which is not one of them."""
    return f"{part[0]}[{part[1]}] {offset_range(begin, end)}"


def offset_range(begin: int, end: int) -> str:
    """Return the offsets from `begin` up to `end`, which is not one of them: `offsets 3 to 5`."""
    return f"offset {begin}" if end - begin == 1 else f"offsets {begin} to {end - 1}"


def size(number: float | None) -> str:
    """Return bytes as `512 B`, `1.2 kB`, `34 MB`: decimal; `unknown` for None."""
    if number is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


_SIZE = re.compile(r"(?P<count>\d{1,6}(?:\.\d{1,3})?)\s*(?P<unit>[kmgt]?b)", re.IGNORECASE)
_SIZES = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4}


def read_size(text: str) -> int:
    """Return the bytes of a size such as `50 GB`, decimal; ValueError where it is none."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected a size such as `50 GB`, found {text!r}")
    return int(float(found["count"]) * _SIZES[found["unit"].lower()])


def instead(name: str, known: Iterable[str]) -> str:
    """Return what may have been meant by a name that is not there, as the end of a sentence."""
    names = list(known)
    close = near_names(name, names, 2)
    if close:
        return f": did you mean {' or '.join(close)}?"
    return f"; known: {name_list(names)}" if names else ""


def count(number: int | None) -> str:
    """Return a count with three digits at most: `999`, `1.2 k`, `34 M`; `unknown` for None."""
    if number is None:
        return NONE
    size, unit = float(number), ""
    for next_ in ("k", "M", "G", "T"):
        if abs(size) < 999.5:
            break
        size, unit = size / 1000, next_
    if not unit:
        return str(number)
    return f"{size:.1f} {unit}" if abs(size) < 9.95 else f"{size:.0f} {unit}"


def plural(number: int, word: str, shown: str | None = None) -> str:
    """Return `1 node`, `2 nodes`, `3 batches`; `shown` is the number in another form."""
    more = "es" if word.endswith("ch") else "s"
    return f"{number if shown is None else shown} {word}{'' if number == 1 else more}"


def up_to(offsets: int, shown: str | None = None) -> str:
    """Return how many records so many offsets have: `0`, `up to 3`; `shown` is another form.

    Compaction, transaction markers and aborted transactions leave offsets without a record, and
    nothing that is cheap to ask says how many.
    """
    return f"up to {shown or offsets}" if offsets else "0"


def as_records(offsets: int, shown: str | None = None) -> str:
    """Return `up_to` with its word: `0 records`, `up to 1 record`."""
    return plural(offsets, "record", up_to(offsets, shown))


def exact(number: int | None) -> str:
    """Return every digit, in groups of three."""
    return NONE if number is None else f"{number:,}".replace(",", "\u202f")


def duration(milliseconds: int | None) -> str:
    """Return the largest unit that fits: `7 days`, `36 h`, `for ever` for -1."""
    if milliseconds is None:
        return NONE
    if milliseconds < 0:
        return "forever"
    for size, word in ((86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if milliseconds >= 2 * size or milliseconds == size:
            return f"{milliseconds / size:.3g} {word if milliseconds != size else word[:3]}"
    return f"{milliseconds} ms"


def ago(at: str | None, now: datetime | None = None) -> str:
    """Return how long an ISO 8601 time is past: `12 s ago`, `3 h ago`, `unknown` for None."""
    then = moment(at)
    if then is None:
        return NONE
    seconds = max(0, int(((now or datetime.now(UTC)) - then).total_seconds()))
    for size, word in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return f"{seconds} s ago"


def short_time(at: str | None) -> str:
    """Return an ISO 8601 time as `2026-11-21 10:46:03`, in UTC."""
    then = moment(at)
    return NONE if then is None else f"{then:%Y-%m-%d %H:%M:%S}"


def day_and_time(at: str | None) -> str:
    """Return an ISO 8601 time as `21 Nov 10:46`, in UTC; the year only where it is another one."""
    then = moment(at)
    if then is None:
        return NONE
    year = "" if then.year == datetime.now(UTC).year else f" {then.year}"
    return f"{then.day} {then:%b}{year} {then:%H:%M}"


def moment(at: str | None) -> datetime | None:
    """Return the time, UTC where it names no zone; None where it is none."""
    try:
        then = datetime.fromisoformat(at) if at else None
    except ValueError:
        return None
    if then is not None and then.tzinfo is None:
        return then.replace(tzinfo=UTC)
    return then
