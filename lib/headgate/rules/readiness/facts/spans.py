"""Spans of time and sizes as readiness rules write and read them."""

from __future__ import annotations

import re

_UNITS = {"ms": 1, "millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000,
          "day": 86_400_000, "week": 604_800_000}  # fmt: skip
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+?)s?(?=\s|$|\d)")


def span_ms(text: str | None) -> int | None:
    """Return the milliseconds of a span such as `10 seconds` or `1 hour 30 minutes`.

    None where it is none, or has a unit of no fixed length.
    """
    cleaned = (text or "").lower().replace("interval", "").replace("'", "").strip()
    parts = _PART.findall(cleaned)
    if not parts or _PART.sub("", cleaned).strip() or any(u not in _UNITS for _, u in parts):
        return None
    return int(sum(float(n) * _UNITS[u] for n, u in parts))


def span(milliseconds: float) -> str:
    """Return a span for people in its largest unit: `7 days`, `36 hours`, `90 seconds`."""
    for unit in ("day", "hour", "minute", "second"):
        size = _UNITS[unit]
        if milliseconds >= 2 * size or milliseconds == size:
            return _plural(milliseconds / size, unit)
    return f"{milliseconds:.3g} ms"


def size(number: float) -> str:
    """Return bytes for people: `12 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


def some(names: list[str], most: int = 3) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _plural(number: float, unit: str) -> str:
    shown = f"{number:.3g}"
    return f"{shown} {unit}{'' if shown == '1' else 's'}"
