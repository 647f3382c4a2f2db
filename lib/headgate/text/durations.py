"""Durations as `headgate.toml` has them: `14 days`, `36 hours`, `2 weeks`."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(r"(?P<count>\d{1,5})\s*(?P<unit>hours?|days?|weeks?|[hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def read_duration(text: str) -> timedelta:
    """Return the duration; ValueError where it is none of these forms."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"expected a duration such as `14 days`, found {text!r}")
    return int(found["count"]) * _UNITS[found["unit"][0]]
