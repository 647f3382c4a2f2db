"""Times of the engine as ISO 8601 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(milliseconds: int) -> str | None:
    """Return milliseconds since 1970 as ISO 8601 in UTC, None where no calendar has that time."""
    try:
        found = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return f"{found:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"
