"""Expressions of built-in functions that give one value, written in one way.

Source: the functions' own documentation; restarts on 4.2.0 whose keys were written in both ways.
What is not in these tables keeps its text, and counts as another value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from headgate.rules.spark.facts.expressions import call_of, split_arguments

_UNSAID = re.compile(r"^(?:Some\(.*\)|None)$")
_FIRST_PART = re.compile(r"^split\((?P<args>.*)\)\[0\]$", re.DOTALL)
_FIELD_OF_TUPLE = re.compile(r"^json_tuple\((?P<args>.*)\)\.(?P<index>\d+)$", re.DOTALL)
_COLUMN_OF_ROWS = re.compile(
    r"^(?P<name>inline|inline_outer|stack|explode|explode_outer)\((?P<args>.*)\)\.(?P<index>\d+)$",
    re.DOTALL,
)
_IS_ONE = re.compile(
    r"^\((?P<value>s\d+\.[\w.]+) (?:= (?P<one>[^()\[\],]+)|IN \[(?P<of>[^()\[\]]+)\])\)$"
)
_SPECIAL = frozenset("\\^$.|?*+()[]{}")
# How much of `yyyy-MM-dd HH:mm:ss`, the text of a timestamp, each length holds.
_TEXT_OF_TIME = "yyyy-MM-dd HH:mm:ss"
_DAY = re.compile(r"yyyy(?P<between>[-/.]?)MM(?P=between)dd")
_CUTS = ("4", "7", "10", "13", "16", "19")
_PARTS = {"year": "yyyy", "month": "M", "dayofmonth": "d", "hour": "H", "minute": "m"}
# The letters of patterns that name something finer than a unit of date_trunc.
_FINER = {
    "DAY": "HhKkmsSaAnN",
    "HOUR": "msSAnN",
    "MINUTE": "sSAnN",
    "SECOND": "SAnN",
}
_UNITS = {
    **dict.fromkeys(("MONTH", "MM", "MON"), "MONTH"),
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"),
    "QUARTER": "QUARTER",
    "WEEK": "WEEK",
}
_EXTRACTED = {
    **{p: p for p in ("year", "quarter", "month", "hour", "minute")},
    **dict.fromkeys(("day", "dayofmonth", "d", "days"), "dayofmonth"),
    **dict.fromkeys(("week", "weekofyear", "w", "weeks"), "weekofyear"),
    **dict.fromkeys(("dow", "dayofweek"), "dayofweek"),
    **dict.fromkeys(("doy", "dayofyear"), "dayofyear"),
}
_CASES = ("lower", "upper")

Write = Callable[[Sequence[str]], str | None]


def normalized(expression: str) -> str:
    """Return the one way to write what an expression gives, null for null."""
    text = expression.strip()
    if match := _FIRST_PART.match(text):
        return _first_part(split_arguments(match["args"])) or text
    if match := _FIELD_OF_TUPLE.match(text):
        return _field(split_arguments(match["args"]), int(match["index"])) or text
    if match := _COLUMN_OF_ROWS.match(text):
        args = split_arguments(match["args"])
        return _column(match["name"], args, int(match["index"])) or text
    found = call_of(text)
    if found is None:
        return text
    name, inside = found
    if name == "cast":
        value, _, kind = inside.rpartition(" as ")
        return _cast(normalized(value), kind)
    args = [normalized(a) for a in split_arguments(inside) if not _UNSAID.match(a)]
    write = _WAYS.get(name)
    return (write(args) if write else None) or f"{name}({', '.join(args)})"


def but_for_null(expression: str) -> str:
    """Return a normalized expression without what only decides which value null gets."""
    found = call_of(expression)
    if found is None:
        return expression
    name, args = found[0], split_arguments(found[1])
    if name == "concat_ws" and len(args) > 1:
        between = [part for value in args[1:] for part in (args[0], value)][1:]
        return between[0] if len(between) == 1 else f"concat({', '.join(between)})"
    if name == "coalesce" and args:
        return args[0]
    if name == "format_string" and len(args) == 2 and args[0] in ("%s", "%d"):
        return f"cast({args[1]} as string)" if args[0] == "%d" else args[1]
    return expression


def _cast(value: str, kind: str) -> str:
    found = call_of(value)
    name, inside = found or ("", "")
    if kind == "string" and name == "cast" and inside.endswith(" as date"):
        return f"date_format({inside.removesuffix(' as date')}, yyyy-MM-dd)"
    if kind == "date" and (day := _day_of(name, inside)) is not None:
        return day
    if kind == "string" and name in _PARTS:
        return f"date_format({_instant(inside)}, {_PARTS[name]})"
    return f"cast({value} as {kind})"


def _day_of(name: str, inside: str) -> str | None:
    """Return the date of a time that was truncated, or written as a day; None if it wasn't."""
    if name == "gettimestamp":
        text, pattern, *_ = [*split_arguments(inside), ""]
        written, args = call_of(text) or ("", "")
        time, _, format_ = args.rpartition(", ")
        is_day = written == "date_format" and format_ == pattern and _DAY.fullmatch(pattern)
        return f"cast({time} as date)" if is_day else None
    if name == "cast" and inside.endswith(" as timestamp"):
        whole = inside.removesuffix(" as timestamp")
        kind, dated = call_of(whole) or ("", "")
        return whole if kind == "cast" and dated.endswith(" as date") else None
    if name != "date_trunc":
        return None
    unit, _, instant = inside.partition(", ")
    if unit.upper() in _FINER:
        return f"cast({instant} as date)"
    return _trunc((f"cast({instant} as date)", unit))


def _trunc(args: Sequence[str]) -> str | None:
    """Return the first day of a month, a quarter, a year or a week, with one name of the unit."""
    unit = _UNITS.get(args[1].upper()) if len(args) == 2 else None
    return f"trunc({args[0]}, {unit})" if unit else None


def _extract(args: Sequence[str]) -> str | None:
    """Read `extract(hour, x)` as `hour(x)`."""
    part = _EXTRACTED.get(args[0].lower()) if len(args) == 2 else None
    return f"{part}({args[1]})" if part else None


def _instant(value: str) -> str:
    """Return the time of which a date or a truncated time was taken."""
    name, inside = call_of(value) or ("", "")
    return inside.removesuffix(" as date") if name == "cast" else value


def _date_format(args: Sequence[str]) -> str | None:
    if len(args) != 2:
        return None
    value, pattern = args
    name, inside = call_of(value) or ("", "")
    if name == "cast" and inside.endswith(" as timestamp"):
        kind, dated = call_of(inside.removesuffix(" as timestamp")) or ("", "")
        whole = kind == "cast" and dated.endswith(" as date")
        if whole and not set(pattern) & set(_FINER["DAY"]):
            value = dated.removesuffix(" as date")
    if name == "date_trunc":
        unit, _, instant = inside.partition(", ")
        if unit.upper() in _FINER and not set(pattern) & set(_FINER[unit.upper()]):
            value = instant
    return f"date_format({value}, {pattern})"


def _to_date(args: Sequence[str]) -> str | None:
    is_plain = len(args) == 1 or list(args[1:]) == ["true"]
    return _cast(args[0], "date") if is_plain else None


def _date_trunc(args: Sequence[str]) -> str | None:
    day = len(args) == 2 and args[0].upper() in ("DAY", "DD")
    return f"cast(cast({args[1]} as date) as timestamp)" if day else None


def _from_unixtime(args: Sequence[str]) -> str | None:
    name, inside = call_of(args[0]) or ("", "") if args else ("", "")
    # Of a text, another format than that of a time's own text decides the value.
    if name != "unix_timestamp" or len(args) > 2 or _TEXT_OF_TIME not in split_arguments(inside):
        return None
    pattern = args[1] if len(args) == 2 else _TEXT_OF_TIME
    return f"date_format({split_arguments(inside)[0]}, {pattern})"


def _substring(args: Sequence[str]) -> str | None:
    """Read the first letters of a timestamp's text; of other texts they are nothing else."""
    name, inside = call_of(args[0]) or ("", "") if args else ("", "")
    if name != "cast" or not inside.endswith(" as string") or list(args[1:2]) != ["1"]:
        return None
    if len(args) != 3 or args[2] not in _CUTS:
        return None
    return f"date_format({inside.removesuffix(' as string')}, {_TEXT_OF_TIME[: int(args[2])]})"


def _first_part(args: Sequence[str]) -> str | None:
    """Return the part before a mark, of `split(x, '-')[0]` or `substring_index(x, '-', 1)`."""
    value, mark, *more = [*args, ""]
    plain = bool(mark) and not _SPECIAL & set(mark) and more[:1] in (["1"], ["-1"], [""])
    return f"substring_index({normalized(value)}, {mark}, 1)" if plain else None


def _element_at(args: Sequence[str]) -> str | None:
    """Read the first part of `split_part`, which Spark's optimiser writes as an element."""
    name, inside = call_of(args[0]) or ("", "") if args else ("", "")
    parts = split_arguments(inside)
    is_first = name == "stringsplitsql" and list(args[1:2]) == ["1"] and len(parts) == 2
    return _first_part(parts) if is_first else None


def _field(args: Sequence[str], index: int) -> str | None:
    """Read a column of `json_tuple(x, 'a', 'b')` as `get_json_object(x, '$.a')`."""
    name = args[index + 1] if index + 1 < len(args) else ""
    return f"get_json_object({normalized(args[0])}, $.{name})" if name.isidentifier() else None


def _column(name: str, args: Sequence[str], index: int) -> str | None:
    """Read one column of made rows without what only the other columns have."""
    kept: list[str | None] = []
    if name == "stack" and args and args[0].isdecimal():
        width = -(-len(args[1:]) // max(int(args[0]), 1))
        kept = [args[0], *args[1 + index :: width]] if index < width else []
    elif len(args) == 1:
        made, inside = call_of(args[0]) or ("", "")
        values = split_arguments(inside)
        if made == "map" and name.startswith("explode") and index < 2:
            kept = list(values[index::2])
        elif made == "array" and name.startswith("inline"):
            kept = [_item_of(value, index) for value in values]
    if not kept or None in kept:
        return None
    return f"{name}({', '.join(normalized(value) for value in kept if value)}).{index}"


def _item_of(struct: str, index: int) -> str | None:
    name, inside = call_of(struct) or ("", "")
    values = split_arguments(inside)
    return values[index] if name == "struct" and index < len(values) else None


def _regexp_replace(args: Sequence[str]) -> str | None:
    plain = len(args) in (3, 4) and not _SPECIAL & set(args[1]) and not set("$\\") & set(args[2])
    return f"replace({', '.join(args[:3])})" if plain and list(args[3:]) in ([], ["1"]) else None


def _translate(args: Sequence[str]) -> str | None:
    one = len(args) == 3 and len(args[1]) == 1 and len(args[2]) <= 1
    return f"replace({', '.join(args)})" if one else None


def _trim(args: Sequence[str]) -> str | None:
    """Leave out a trim of what is trimmed."""
    name, _ = call_of(args[0]) or ("", "")
    return args[0] if len(args) == 1 and name == "trim" else None


def _trimmed(other: str) -> Write:
    """Return how a trim of one end reads around the trim of the other."""

    def write(args: Sequence[str]) -> str | None:
        name, inside = call_of(args[0]) or ("", "")
        return f"trim({inside})" if len(args) == 1 and name == other else None

    return write


def _case_of(case: str) -> Write:
    """Return how a change of case reads: inside of a trim."""

    def write(args: Sequence[str]) -> str | None:
        name, inside = call_of(args[0]) or ("", "")
        return f"trim({case}({inside}))" if len(args) == 1 and name == "trim" else None

    return write


def _when(args: Sequence[str]) -> str | None:
    """Read `CASE(isnull(x), y, x)` as `coalesce(x, y)`, and values with one result as a list."""
    args = _with_lists(args)
    if len(args) == 2 and args[0] == f"isnotnull({args[1]})":
        return args[1]
    if len(args) != 3:
        return f"case({', '.join(args)})"
    condition, value, rest = args
    if condition == f"isnull({rest})" and value == "null":
        return rest
    if condition == f"isnull({rest})":
        return f"coalesce({rest}, {value})"
    if condition == f"isnotnull({value})":
        return f"coalesce({value}, {rest})"
    return f"case({', '.join(args)})"


def _with_lists(args: Sequence[str]) -> list[str]:
    """Join branches that follow each other, test one column for a value, and give one result."""
    out: list[str] = []
    for at in range(0, len(args) - 1, 2):
        condition, result = _listed(args[at]), args[at + 1]
        last = _IS_ONE.match(out[-2]) if len(out) > 1 and out[-1] == result else None
        this = _IS_ONE.match(condition)
        if last and this and last["value"] == this["value"]:
            values = {*split_arguments(last["of"]), *split_arguments(this["of"])}
            out[-2] = f"({this['value']} IN [{', '.join(sorted(values))}])"
        else:
            out += [condition, result]
    return [*out, *args[len(args) // 2 * 2 :]]


def _listed(condition: str) -> str:
    """Read `(x = a)` as `(x IN [a])`."""
    match = _IS_ONE.match(condition)
    if match is None:
        return condition
    values = sorted(split_arguments(match["of"] or match["one"]))
    return f"({match['value']} IN [{', '.join(values)}])"


def _coalesce(args: Sequence[str]) -> str | None:
    """Leave out what was given before: `coalesce(x, x)` is x."""
    once = list(dict.fromkeys(args))
    return once[0] if len(once) == 1 and len(args) > 1 else f"coalesce({', '.join(once)})"


def _concat(args: Sequence[str]) -> str | None:
    """Leave out empty texts, which make no other text, and no null."""
    given = [arg for arg in args if arg]
    return given[0] if len(given) == 1 else f"concat({', '.join(given)})"


def _concat_ws(args: Sequence[str]) -> str | None:
    """Read `concat_ws('', x)` as `coalesce(x, '')`, whose last argument is an empty text."""
    return f"coalesce({args[1]})" if len(args) == 2 and args[0] == "" else None


_WAYS: dict[str, Write] = {
    "case": _when,
    "coalesce": _coalesce,
    "concat": _concat,
    "concat_ws": _concat_ws,
    "date_format": _date_format,
    "date_part": _extract,
    "date_trunc": _date_trunc,
    "element_at": _element_at,
    "extract": _extract,
    "from_unixtime": _from_unixtime,
    "left": lambda args: (
        _substring(x) or f"substring({', '.join(x)})"
        if len(x := [args[0], "1", *args[1:]]) == 3
        else None
    ),
    "ltrim": _trimmed("rtrim"),
    # A column of the row that a lateral subquery belongs to.
    "outer": lambda args: args[0] if len(args) == 1 else None,
    "regexp_replace": _regexp_replace,
    "rtrim": _trimmed("ltrim"),
    "split_part": _first_part,
    "substring": _substring,
    "substring_index": _first_part,
    "to_date": _to_date,
    "timestamp_seconds": lambda args: f"cast({args[0]} as timestamp)",
    "trim": _trim,
    "trunc": _trunc,
    "translate": _translate,
    **{case: _case_of(case) for case in _CASES},
}
