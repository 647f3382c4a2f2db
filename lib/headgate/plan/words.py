"""Words that sentences of plans and steps share."""

from __future__ import annotations

from collections.abc import Iterable

# Of many only the first are named in a sentence.
_SHOWN = 5


def named(names: Iterable[str]) -> str:
    """Return the first names, sorted, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
