"""How far a pipeline is with what it reads again, in words."""

from __future__ import annotations

from headgate.text.numbers import duration, exact


def amount_words(done: int, left: int, at_end: int, partitions: int) -> str:
    """Return `300 of 900 records, 1 of 4 partitions at their end`."""
    return (
        f"{exact(done)} of {exact(done + left)} records, {at_end} of {partitions} partitions at"
        " their end"
    )


def left_words(left: int, seconds: float | None, *, is_measured: bool) -> str:
    """Return the time left; without a rate it is not known, and at some rates it never ends."""
    if not left:
        return "none: it has caught up"
    if not is_measured:
        return "measured at the next look"
    if seconds is None:
        return "it does not catch up at this rate"
    return f"about {duration(round(seconds) * 1000 or 1000)}"
