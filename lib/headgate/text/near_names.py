"""Find which known names somebody may have meant by one that is not there."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 100
"""Maximum length of a compared name: the time grows with the square of the length."""
_ALIKE = 0.6


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the known names nearest to `name`, the nearest first.

    A name that one slip of the keyboard makes (a letter too many, too few, another one, or two
    neighbours swapped) is always near, however short it is.
    """
    # Imported here: hardly anybody mistypes, and everybody would wait for it.
    from difflib import get_close_matches

    names = [n for n in dict.fromkeys(known) if len(n) <= LONGEST]
    if len(name) > LONGEST:
        return []
    slips = [n for n in names if _is_one_slip(name, n)]
    alike = get_close_matches(name, names, most, _ALIKE) if names else []
    return list(dict.fromkeys((*slips, *alike)))[:most]


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one insertion, deletion, other letter or swap of neighbours makes them equal."""
    if one == other or abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < 2:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return True
    left, right = one[at:], other[at:]
    swapped = left[1:2] + left[:1] + left[2:]
    return right in (swapped, left[1:], right[:1] + left[1:]) or left == right[1:]
