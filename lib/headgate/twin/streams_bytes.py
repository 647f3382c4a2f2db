"""Bytes of keys and values in a readable form: text, numbers, keys of windows."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

# A window's start or end is taken for one between 2001 and 2065.
_EARLIEST_MS, _LATEST_MS = 1_000_000_000_000, 3_000_000_000_000
_SMALL = 1 << 40


def shown(raw: bytes | None) -> str | None:
    """Return bytes as text, as a whole number of 4 or 8 bytes, else in hexadecimal digits."""
    if raw is None:
        return None
    if len(raw) in (4, 8) and raw[:1] in (b"\0", b"\xff"):
        number = int.from_bytes(raw, signed=True)
        if abs(number) < _SMALL:
            return str(number)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return f"0x{raw.hex()}"
    return text if text.isprintable() else f"0x{raw.hex()}"


def shown_key(raw: bytes | None) -> str | None:
    """Return a key, with the times of its window if it ends as those of windows do.

    A key of a time window ends with its start and, in a store, with four zero bytes; one of a
    session ends with its end and its start. Times are ms since 1970 in 8 bytes.
    """
    for size, count in ((20, 2), (16, 2), (12, 1), (8, 1)):
        if raw is None or len(raw) <= size or (size in (12, 20) and raw[-4:] != bytes(4)):
            continue
        at = len(raw) - size
        times = struct.unpack_from(f">{count}q", raw, at)
        if all(_EARLIEST_MS < t < _LATEST_MS for t in times):
            return f"{shown(raw[:at])} @ {' to '.join(_clock(t) for t in reversed(times))}"
    return shown(raw)


def _clock(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
