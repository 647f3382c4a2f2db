"""Times and durations as people write them on the command line and in the wizard."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from headgate.errors import ScenarioError

_DURATION = re.compile(
    r"(?P<count>\d{1,5})\s*(?P<unit>seconds?|minutes?|hours?|days?|weeks?|[smhdw])"
)
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def read_duration(text: str) -> timedelta:
    """Return the duration; ValueError where it is none of these forms."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"expected a duration such as `14 days`, found {text!r}")
    return int(found["count"]) * _UNITS[found["unit"][0]]


_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)S)?)?", re.I
)
_SHORT = re.compile(
    r"(?:(?P<w>\d+)w)?(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?", re.I
)
_TIME_OF_DAY = re.compile(r"\d[T ]\d", re.I)
_FORM = "2026-11-21T10:00:00Z"
# Kafka's times are milliseconds since then, and none is negative.
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)


def moment(text: str, *, option: str) -> datetime:
    """Return an ISO 8601 time in UTC; without a zone it is UTC, as for Kafka's own tools.

    A blank may replace the `T`. A day without a time isn't enough: it may mean its start or end.
    ScenarioError if the text isn't a time, or is before 1970, when Kafka's times begin.
    """
    try:
        found = datetime.fromisoformat(text)
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        found = None
    if found is None or not _TIME_OF_DAY.search(text):
        raise ScenarioError(f"--{option}: expected a time such as {_FORM}, found {text!r}")
    if found < _FIRST:
        raise ScenarioError(f"--{option}: expected a time after 1970-01-01, found {text!r}")
    return found


def ago(text: str, *, option: str) -> datetime:
    """Return the time that was a duration ago; ScenarioError where it is none, or before 1970."""
    span = duration(text, option=option)
    now = datetime.now(UTC)
    if span > now - _FIRST:
        raise ScenarioError(
            f"--{option}: {text!r} ago is before 1970-01-01: use a shorter duration"
        )
    return now - span


def duration(text: str, *, option: str) -> timedelta:
    """Return an ISO 8601 duration (`P1DT2H`), or a short one (`1d2h`); ScenarioError otherwise."""
    found = _ISO.fullmatch(text) or _SHORT.fullmatch(text)
    parts = {k: int(v) for k, v in found.groupdict().items() if v} if found else {}
    if not parts:
        raise ScenarioError(
            f"--{option}: expected a duration such as P1DT2H or 1d2h, found {text!r}"
        )
    try:
        return timedelta(
            weeks=parts.get("w", 0),
            days=parts.get("d", 0),
            hours=parts.get("h", 0),
            minutes=parts.get("m", 0),
            seconds=parts.get("s", 0),
        )
    except OverflowError:
        raise ScenarioError(f"--{option}: {text!r} is too long: use a shorter duration") from None


def iso(at: datetime) -> str:
    """Return the time as `moment` reads it, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(at: datetime) -> int:
    """Return the time as Kafka has it; without the rounding of floating seconds."""
    return (at - _FIRST) // timedelta(milliseconds=1)


def from_milliseconds(at: int) -> datetime:
    """Return the time that Kafka's milliseconds mean; beyond the year 9999 the last one of it.

    Event times can be: Spark's go further, and a number of milliseconds may be read as seconds.
    """
    try:
        return _FIRST + timedelta(milliseconds=at)
    except OverflowError:
        return _LAST if at > 0 else datetime.min.replace(tzinfo=UTC)


def later(at: datetime, by: timedelta) -> datetime:
    """Return the time that comes so much later, at most the last one of the year 9999."""
    return at + by if by < _LAST - at else _LAST


def earlier(at: datetime, by: timedelta) -> datetime:
    """Return the time that comes so much earlier, at least the first one of 1970."""
    return at - by if by < at - _FIRST else _FIRST
