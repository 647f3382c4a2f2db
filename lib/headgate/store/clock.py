"""The store's time: ISO 8601 in UTC, so that text sorts as time does."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Return the time now, to the millisecond, such as `2026-11-21T11:02:03.004+00:00`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
