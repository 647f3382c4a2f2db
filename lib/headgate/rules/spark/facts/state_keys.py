"""What became of the expressions by whose values an operator finds its state."""

from __future__ import annotations

from enum import Enum

from headgate.rules.core.rule import Comparison
from headgate.rules.spark.facts.expressions import (
    columns,
    guards,
    recast,
    with_first_names,
    without_names,
)
from headgate.rules.spark.facts.time_zone import without_zones, zones_differ

Keys = tuple[str, ...]


class KeyChange(Enum):
    """SAME values; GUARDED: only null became another; HIDDEN: a user's function decides; OTHER."""

    SAME = "same"
    GUARDED = "guarded"
    HIDDEN = "hidden"
    OTHER = "other"


def readable(c: Comparison, keys: Keys) -> Keys:
    """Return keys without what gives no other value: names of fields and functions.

    Where the sessions' zones differ, what reads them is judged with the setting (CFG007).
    """
    plain = tuple(with_first_names(without_names(k)) for k in keys)
    return without_zones(plain) if zones_differ(c) else plain


def key_change(c: Comparison, before: Keys, after: Keys) -> KeyChange:
    """Compare keys place by place; their types are known to fit."""
    old, new = readable(c, before), readable(c, after)
    pairs = [(b, a) for b, a in zip(old, new, strict=False) if b != a]
    if len(old) != len(new):
        return KeyChange.OTHER
    if all(recast(a, b) or recast(b, a) for b, a in pairs):
        return KeyChange.SAME
    if all(guards(a, b) or guards(b, a) for b, a in pairs):
        return KeyChange.GUARDED
    names = {*c.before.user_functions, *c.after.user_functions}
    if all(_calls(names, b, a) and columns(b) == columns(a) for b, a in pairs):
        return KeyChange.HIDDEN
    return KeyChange.OTHER


def _calls(names: set[str], *expressions: str) -> bool:
    return any(e.startswith(f"{n}(") for n in names for e in expressions)
