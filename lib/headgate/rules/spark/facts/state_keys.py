"""What became of the expressions by whose values an operator finds its state."""

from __future__ import annotations

import re
from enum import Enum

from headgate.model.version import Version
from headgate.rules.core.report import Location
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import names_count
from headgate.rules.core.upstream import never_null
from headgate.rules.spark.facts.expressions import (
    QUOTED,
    call_of,
    columns,
    functions,
    guards,
    recast,
    split_arguments,
    with_first_names,
    without_names,
)
from headgate.rules.spark.facts.same_values import but_for_null, normalized
from headgate.rules.spark.facts.time_zone import without_zones, zones_differ

Keys = tuple[str, ...]
_SOURCE = re.compile(r"\bs\d+(?=\.)")
# The last argument says what the size of null is: -1, or null.
_SIZE = re.compile(r"^(size\(.*), (?:true|false)\)$")
_ELEMENT = re.compile(r"\)\.\w+")
_BARE = re.compile(rf"^s\d+\.(?P<name>\w+|{QUOTED})$")
_PARSED = re.compile(rf"^from_\w+\(.*\)\.(?P<name>\w+|{QUOTED})$", re.DOTALL)
# Functions of a family give other values for ordinary rows.
_FAMILIES = tuple(
    frozenset(names.split())
    for names in (
        "round bround floor ceil",
        "lower upper initcap",
        "hash xxhash64 md5 sha sha2 crc32",
        "trim ltrim rtrim btrim",
        "year quarter month weekofyear dayofmonth dayofweek dayofyear weekday hour minute second",
        "to_utc_timestamp from_utc_timestamp convert_timezone",
        "min max first last any_value",
        "least greatest",
    )
)
_OPERATOR = re.compile(r" ([-+*/%]) ")
_OPERATORS = frozenset("-+*/%")
_MAPPED = re.compile(r"\bmap_in_(?:pandas|arrow)(?=\.)")
_STATIC = re.compile(r"\bstatic(\d+)(?=\.)")


class KeyChange(Enum):
    """SAME values; GUARDED: only null became another; HIDDEN: a user's function decides; OTHER.

    FILLED: null gets a value on purpose, or does no longer (`coalesce`, `na.fill`).
    TABLE: a column comes from another static table; MOVED: from one of the same name elsewhere.
    NUMBERED: one version's evidence has the number of a field that the other one's has the name of.
    REWRITTEN: other functions read the same columns, which may give the same values or not.
    """

    SAME = "same"
    GUARDED = "guarded"
    FILLED = "filled"
    HIDDEN = "hidden"
    TABLE = "table"
    MOVED = "moved"
    NUMBERED = "numbered"
    REWRITTEN = "rewritten"
    OTHER = "other"


def readable(c: Comparison, keys: Keys) -> Keys:
    """Return keys without what gives no other value: names of fields and functions.

    Where the sessions' zones differ, what reads them is judged with the setting (CFG007).
    """
    plain = tuple(with_first_names(without_names(k)) for k in keys)
    return without_zones(plain) if zones_differ(c) else plain


def with_tables(version: Version, keys: Keys, other: Version | None = None) -> Keys:
    """Write which static table a column comes from for its number among the query's tables.

    Given another version, only tables whose location both versions' evidence shows.
    """
    tables = _tables(version)
    if other is not None:
        shown = _tables(other)
        tables = {number: label for number, label in tables.items() if number in shown}
    return tuple(_STATIC.sub(lambda m: tables.get(m[1], m[0]), k) for k in keys)


def _tables(version: Version) -> dict[str, str]:
    """Return the tables with a known location by their number."""
    return {
        str(n.details["position"]): f"`{n.label}`"
        for n in version.topology.nodes
        if n.details.get("static") and n.details.get("path") and "position" in n.details
    }


def _without_folders(keys: Keys) -> Keys:
    """Leave the name of each table, without its format and location."""
    return tuple(re.sub(r"`[^`]*?([^`/ ]+)/*`", r"`\1`", k) for k in keys)


def key_change(c: Comparison, before: Keys, after: Keys) -> KeyChange:
    """Compare keys by position; their types are known to fit."""
    if len(before) != len(after):
        return KeyChange.OTHER
    plain = readable(c, before), readable(c, after)
    old = with_tables(c.before, plain[0], c.after)
    new = with_tables(c.after, plain[1], c.before)
    if old != new and _without_folders(old) == _without_folders(new):
        return KeyChange.MOVED
    if old != new and plain[0] == plain[1]:
        return KeyChange.TABLE
    pairs = [(b, a) for b, a in zip(old, new, strict=True) if b != a]
    if all(_same(c, b, a) for b, a in pairs):
        return KeyChange.SAME
    if all(_same(c, b, a) or _same_but_for_null(b, a) for b, a in pairs):
        return KeyChange.FILLED if any(_fills(b, a) for b, a in pairs) else KeyChange.GUARDED
    if all(_same(c, b, a) or _is_numbered(b, a) for b, a in pairs):
        return KeyChange.NUMBERED
    names = {*c.before.user_functions, *c.after.user_functions}
    if all(_calls(names, b, a) and columns(b) == columns(a) for b, a in pairs):
        return KeyChange.HIDDEN
    # A function of batches gives its columns in either form.
    if all(_MAPPED.sub("", b) == _MAPPED.sub("", a) for b, a in pairs):
        return KeyChange.HIDDEN
    if all(_same(c, b, a) or _is_rewritten(b, a) for b, a in pairs):
        return KeyChange.REWRITTEN
    return KeyChange.OTHER


def _is_rewritten(before: str, after: str) -> bool:
    """Say whether functions replaced others, or a format's own parser another one.

    Of 17 recorded changes of this kind, 12 gave the same keys. One function more, other arguments
    of the same functions, or another function of a family gave other keys in all 19.
    """
    if (parsed := _parsed_field(before, after)) is not None:
        return parsed
    inner = _without_same_cast(before, after)
    in_one_way = _replaced(*map(normalized, inner))
    # Where both call the same functions once they are written in one way, arguments differ.
    is_wrapped = inner[0] in inner[1] or inner[1] in inner[0]
    if is_wrapped or not all(_replaced(*inner)) or not any(in_one_way):
        return False
    if set.union(*_replaced(*inner)) <= _OPERATORS:
        return False
    if any(in_one_way[0] | in_one_way[1] <= family for family in _FAMILIES):
        return False
    has_table = any(_STATIC.search(text) for text in inner)
    old, new = columns(before), columns(after)
    # A table's column may hold what was made of a stream's.
    return old == new or (has_table and (old <= new or new <= old))


def _replaced(before: str, after: str) -> tuple[set[str], set[str]]:
    """Return the functions that only one of two expressions calls."""
    old, new = _functions(before), _functions(after)
    return old - new, new - old


def _functions(expression: str) -> set[str]:
    """Return the functions that an expression calls, and its operators.

    Without a function, arithmetic and casts are one of their own.
    """
    names = set(functions(expression) - {"cast"})
    if not names:
        return set() if _BARE.match(expression) else {"cast"}
    return names | set(_OPERATOR.findall(expression))


def _without_same_cast(before: str, after: str) -> tuple[str, str]:
    """Return what both expressions cast to the same type, or the expressions themselves."""
    old, new = call_of(before), call_of(after)
    if old is None or new is None or (old[0], new[0]) != ("cast", "cast"):
        return before, after
    (inner, _, kind), (other, _, other_kind) = (x[1].rpartition(" as ") for x in (old, new))
    return _without_same_cast(inner, other) if kind == other_kind else (before, after)


def _parsed_field(before: str, after: str) -> bool | None:
    """Say whether a source's own column has the name of the field that a parser gave.

    None if no version reads a parser's field beside a bare column.
    """
    for bare, parsed in ((before, after), (after, before)):
        column, field = _BARE.match(bare), _PARSED.match(parsed)
        if column and field:
            return column["name"] == field["name"]
    return None


def _is_numbered(before: str, after: str) -> bool:
    """Say whether one side numbers the field of an element that the other one names.

    Only a plan with types has the names of the columns that `inline` makes.
    """
    if ("inline(" in before) == ("inline(" in after):
        return False
    old, new = (
        _ELEMENT.sub(").*", text.replace("inline(", "explode(")) for text in (before, after)
    )
    return old == new


def _same(c: Comparison, before: str, after: str) -> bool:
    """Say whether two expressions give the same value for every row of a source that stays."""
    if recast(after, before) or recast(before, after) or normalized(before) == normalized(after):
        return True
    if not names_count(c.before, c.after):
        return False
    old, new = _by_source(c.before, before), _by_source(c.after, after)
    kept = old.keys() & new.keys()
    return bool(kept) and all(old[name] == new[name] for name in kept)


def _by_source(version: Version, key: str) -> dict[str, str]:
    """Return the key's expression for each named source whose rows come together in a union.

    A constant reads no source: in a union of as many parts as sources, it belongs to the source at
    its position.
    """
    names = {f"s{s.position}": s.name for s in version.sources or () if s.name}
    name, inside = call_of(key) or ("", "")
    parts = split_arguments(inside) if name == "union" else [key]
    in_place = list(names) if len(parts) == len(names) == len(version.sources or ()) else []
    found: dict[str, str] = {}
    for number, part in enumerate(parts):
        read = set(_SOURCE.findall(part)) or set(in_place[number : number + 1])
        source = names.get(read.pop()) if len(read) == 1 else None
        if source is None:
            return {}
        found[source] = _SOURCE.sub("s", part)
    return found


def _fills(before: str, after: str) -> bool:
    """Say whether one of two expressions gives null a value, and is the other one for all else."""
    return guards(after, before) or guards(before, after)


def without_nulls(c: Comparison, location: Location, before: Keys, after: Keys) -> bool:
    """Say whether keys that differ only for null are of columns that the old version filters.

    Then no stored key is of a null.
    """
    plain = readable(c, before), readable(c, after)
    never = never_null(c.before.topology, location.before)
    pairs = [p for p in zip(*plain, strict=True) if p[0] != p[1]]
    return all(any(e in never and _BARE.match(e) for e in pair) for pair in pairs)


def _same_but_for_null(before: str, after: str) -> bool:
    """Say whether two expressions differ only for null."""
    if _fills(before, after):
        return True
    old, new = (_SIZE.sub(r"\1)", normalized(k)) for k in (before, after))
    return but_for_null(old) == but_for_null(new)


def _calls(names: set[str], *expressions: str) -> bool:
    return any(e.startswith(f"{n}(") for n in names for e in expressions)
