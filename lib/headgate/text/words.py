"""Words that sentences of plans and steps share."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.text.near_names import near_names

# Of many only the first are named in a sentence.
_SHOWN = 5


def named(names: Iterable[str]) -> str:
    """Return the first names, sorted, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def span(part: tuple[str, int], begin: int, end: int) -> str:
    """Return a partition's records from `begin` up to `end`, which is not one of them."""
    return f"{part[0]}[{part[1]}] {begin} to {end - 1}"


def size(number: float) -> str:
    """Return bytes as `512 B`, `1.2 kB`, `34 MB`: decimal, as pages and the command line do."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


def instead(name: str, known: Iterable[str]) -> str:
    """Return what may have been meant by a name that is not there, as the end of a sentence."""
    names = list(known)
    close = near_names(name, names, 2)
    if close:
        return f": is it {' or '.join(close)}?"
    return f"; there is {named(names)}" if names else ""
