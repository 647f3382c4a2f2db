"""How far something is, in words."""

from __future__ import annotations

from headgate.store.rows import StepProgress
from headgate.text.numbers import duration, exact, size


def amount_words(done: int, left: int, at_end: int, partitions: int) -> str:
    """Return `300 of 900 records, 1 of 4 partitions caught up`."""
    return (
        f"{exact(done)} of {exact(done + left)} records, {at_end} of {partitions} partitions "
        "caught up"
    )


def left_words(left: int, seconds: float | None, *, is_measured: bool) -> str:
    """Return the time left; without a rate it is not known, and at some rates it never ends."""
    if not left:
        return "none (the pipeline has caught up)"
    if not is_measured:
        return "unknown until the next update"
    if seconds is None:
        return "the pipeline doesn't catch up at this rate"
    return f"about {duration(round(seconds) * 1000 or 1000)}"


def count_words(count: StepProgress) -> str:
    """Return `400 of 1 000 partitions, 200/s, 3 s left`; what is not known is left out."""
    done = amount(count.done, count.unit)
    of = f" of {amount(count.total, count.unit)}" if count.total is not None else ""
    word = "" if count.unit == "bytes" else f" {count.unit}"
    return ", ".join([f"{done}{of}{word}", *pace(count.rate, count.seconds_left, count.unit)])


def pace(rate: float | None, seconds_left: float | None, unit: str = "records") -> list[str]:
    """Return rate and time left; neither if nothing moves, no time left at the end."""
    told = []
    if rate:
        told.append(f"{amount(round(rate), unit) if rate >= 1 else f'{rate:.2g}'}/s")
    if seconds_left:
        told.append(f"{duration(round(seconds_left) * 1000 or 1000)} left")
    return told


def amount(number: int | None, unit: str) -> str:
    """Return a count with every digit, bytes in their unit."""
    return size(number) if unit == "bytes" else exact(number)
