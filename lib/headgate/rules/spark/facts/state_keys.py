"""What became of the expressions by whose values an operator finds its state."""

from __future__ import annotations

import re
from enum import Enum

from headgate.model.version import Version
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
_STATIC = re.compile(r"\bstatic(\d+)(?=\.)")


class KeyChange(Enum):
    """SAME values; GUARDED: only null became another; HIDDEN: a user's function decides; OTHER.

    TABLE: a column comes from another static table; MOVED: from one of the same name elsewhere.
    """

    SAME = "same"
    GUARDED = "guarded"
    HIDDEN = "hidden"
    TABLE = "table"
    MOVED = "moved"
    OTHER = "other"


def readable(c: Comparison, keys: Keys) -> Keys:
    """Return keys without what gives no other value: names of fields and functions.

    Where the sessions' zones differ, what reads them is judged with the setting (CFG007).
    """
    plain = tuple(with_first_names(without_names(k)) for k in keys)
    return without_zones(plain) if zones_differ(c) else plain


def with_tables(version: Version, keys: Keys) -> Keys:
    """Write which static table a column comes from for its number among the query's tables."""
    tables = {
        str(n.details["position"]): f"`{n.label}`"
        for n in version.topology.nodes
        if n.details.get("static") and n.details.get("path") and "position" in n.details
    }
    return tuple(_STATIC.sub(lambda m: tables.get(m[1], m[0]), k) for k in keys)


def _without_folders(keys: Keys) -> Keys:
    """Leave the name of each table, without its format and location."""
    return tuple(re.sub(r"`[^`]*?([^`/ ]+)/*`", r"`\1`", k) for k in keys)


def key_change(c: Comparison, before: Keys, after: Keys) -> KeyChange:
    """Compare keys place by place; their types are known to fit."""
    if len(before) != len(after):
        return KeyChange.OTHER
    plain = readable(c, before), readable(c, after)
    old, new = with_tables(c.before, plain[0]), with_tables(c.after, plain[1])
    if old != new and _without_folders(old) == _without_folders(new):
        return KeyChange.MOVED
    if old != new and plain[0] == plain[1]:
        return KeyChange.TABLE
    pairs = [(b, a) for b, a in zip(old, new, strict=True) if b != a]
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
