"""Which expressions read the session's time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FUNCTIONS = (
    "date_format|to_date|date_trunc|trunc|hour|minute|dayofmonth|day|dayofweek|weekday|dayofyear|"
    "month|quarter|year|weekofyear|from_unixtime|to_timestamp|unix_timestamp|gettimestamp|"
    "from_utc_timestamp|to_utc_timestamp|last_day|extract"
)
_READS = re.compile(rf"\b(?:{_FUNCTIONS})\(|\bcast\(.* as (?:date|string)\)", re.IGNORECASE)


def reads_time_zone(expressions: Iterable[str]) -> bool:
    """Say whether one of the expressions turns an instant into a date or a text."""
    return any(_READS.search(e) for e in expressions)
