"""Which expressions read the session's time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headgate.model.version import Version
from headgate.rules.core.rule import Comparison
from headgate.rules.spark.facts.pinned_settings import TIME_ZONE

_FUNCTIONS = (
    "date_format|to_date|date_trunc|trunc|hour|minute|dayofmonth|day|dayofweek|weekday|dayofyear|"
    "month|quarter|year|weekofyear|from_unixtime|to_timestamp|gettimestamp|"
    "from_utc_timestamp|to_utc_timestamp|last_day|extract"
)
_READS = re.compile(rf"\b(?:{_FUNCTIONS})\(|\bcast\(.* as (?:date|string)\)", re.IGNORECASE)
# They need a zone for texts; of an instant they take the number.
_MAY_READ = re.compile(r"\b(?:to_)?unix_timestamp\(", re.IGNORECASE)
_ZONE = re.compile(r"\bSome\(([A-Za-z+-][\w/+:-]*)\)")


def reads_time_zone(expressions: Iterable[str]) -> bool:
    """Say whether one of the expressions turns an instant into a date or a text."""
    return any(_READS.search(e) for e in expressions)


def may_read_time_zone(expressions: Iterable[str]) -> bool:
    """Say whether one of the expressions reads the zone if it is given a text, not an instant."""
    return any(_MAY_READ.search(e) for e in expressions)


def session_zones(c: Comparison) -> tuple[str | None, str | None]:
    """Return both sessions' time zones, as they were set or as Spark prints them in state keys.

    If neither session sets one, a zone that only one version prints says nothing about the other.
    """
    old, new = c.setting(TIME_ZONE)
    zones = old or _printed(c.before), new or _printed(c.after)
    return zones if old or new or None not in zones else (None, None)


def _printed(version: Version) -> str | None:
    """Return the one zone that the state keys' functions got from their session."""
    keys = (key for operator in version.stateful or () for key in operator.keys or ())
    found = {zone for key in keys if reads_time_zone((key,)) for zone in _ZONE.findall(key)}
    return found.pop() if len(found) == 1 else None


def zones_differ(c: Comparison) -> bool:
    """Say whether the sessions have known time zones, each another one."""
    old, new = session_zones(c)
    return None not in (old, new) and old != new


def without_zones(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the session's zone, which Spark prints in what may read it: `Some(UTC)`."""
    return tuple(_ZONE.sub("Some(zone)", k) for k in keys)
