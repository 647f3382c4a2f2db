"""Keep warnings few and short enough to be read; how many were left out is said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headgate.text.numbers import plural

OF_A_KIND = 20
IN_ALL = 200
LONGEST = 1000
# Warnings that differ in these alone say one thing of several places.
_NAMES = re.compile(r"'[^']*'|`[^`]*`|\S*/\S*|\d+")


def few(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return each warning once, cut to `LONGEST`, at most `OF_A_KIND` that say the same.

    Instead of the others one sentence says how many of that kind there are, and at most `IN_ALL`
    are returned at all. A folder may hold thousands of files that nobody meant.
    """
    given = tuple(dict.fromkeys(warnings))
    kept = given if len(given) <= OF_A_KIND else _of_each_kind(given)
    if len(kept) > IN_ALL:
        kept = (*kept[:IN_ALL], f"and {plural(len(kept) - IN_ALL, 'more warning')}")
    return tuple(w if len(w) <= LONGEST else f"{w[:LONGEST]}…" for w in kept)


def _of_each_kind(warnings: Iterable[str]) -> tuple[str, ...]:
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kinds.setdefault(_NAMES.sub("…", warning[:LONGEST]), []).append(warning)
    return tuple(line for same in kinds.values() for line in _cut(same))


def _cut(same: list[str]) -> list[str]:
    more = len(same) - OF_A_KIND
    # Of one more, the sentence would say no less than the warning itself.
    if more <= 1:
        return same
    return [*same[:OF_A_KIND], f"and {more} more warnings of this kind, the last: {same[-1]}"]
