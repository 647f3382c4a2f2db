"""Parse resolved expressions in part: which columns, which function, which time window.

The text is what `StatefulOperator` promises: resolved to `s0.column`, free of attribute ids. A name
that would break it is in backticks, as in SQL: commas and brackets in there end nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

QUOTED = r"`(?:[^`]|``)*`"
"""A name in backticks."""
_QUOTED = re.compile(QUOTED)
_MARK = re.compile(rf"{QUOTED}|[()\[\]{{}},]")
_COLUMN = re.compile(rf"\bs\d+\.(?:{QUOTED}|[\w.])+|\bop\d+\.(?:{QUOTED}|\S)+")
_CAST = re.compile(r"^(?:try_|ansi_)?cast\((?P<inner>.*) as [\w(),<>: ]+\)$")
_RECAST = re.compile(r"^cast\(cast\((?P<inner>.*) as (?:string|bigint)\) as \w+\)$")
_CALL = re.compile(r"^(?P<name>\w+)\((?P<args>.*)\)$", re.DOTALL)
_NAME = re.compile(r"(?P<name>\w+)\(")
_GUARD = re.compile(r"^(?:coalesce|ifnull|nvl)\(")
_STRUCT = re.compile(r"\b(?:named_)?struct\(")
_NAMED_STRUCT = re.compile(r"\bnamed_struct\(")
_WINDOW = re.compile(r"^(?:session_)?window\(")
_SPELT_OUT = re.compile(r"^(?:named_)?struct\(.*precisetimestampconversion", re.DOTALL)

# Names under which Spark registers one function; it prints the one that was written.
_SYNONYMS = {
    "approx_percentile": "percentile_approx",
    "array_agg": "collect_list",
    "cardinality": "size",
    "ceiling": "ceil",
    "char": "chr",
    "char_length": "length",
    "character_length": "length",
    "date_part": "extract",
    "dateadd": "date_add",
    "datepart": "extract",
    "day": "dayofmonth",
    "every": "bool_and",
    "first_value": "first",
    "ifnull": "coalesce",
    "last_value": "last",
    "lcase": "lower",
    "len": "length",
    "mean": "avg",
    "nvl": "coalesce",
    "pow": "power",
    "sha1": "sha",
    "sign": "signum",
    "some": "bool_or",
    "any": "bool_or",
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "string_agg": "listagg",
    "substr": "substring",
    "ucase": "upper",
    "variance": "var_samp",
}
_FUNCTION = re.compile(r"(?<![\w.`])([A-Za-z_]\w*)\(")
_WORD = re.compile(rf"{QUOTED}|(?<![\w.`])(?P<name>[a-z_]\w*)\(")
_MOD = re.compile(r"(?<![\w.`])mod\((?P<args>[^(),]*, [^(),]*)\)")


def with_first_names(expression: str) -> str:
    """Write functions that have several names by one of them, `mod(a, b)` as `(a % b)`.

    Source: `FunctionRegistry` of Spark 4.2, where names share an expression.
    """
    text = _WORD.sub(_first_name, expression)
    return _MOD.sub(lambda m: f"({m['args'].replace(', ', ' % ')})", text)


def _first_name(match: re.Match[str]) -> str:
    name = match["name"]
    return match.group() if name is None else f"{_SYNONYMS.get(name, name)}("


def columns(expression: str) -> frozenset[str]:
    """Return the source columns that an expression reads."""
    return frozenset(_COLUMN.findall(expression))


def functions(expression: str) -> frozenset[str]:
    """Return the functions that an expression calls, in small letters."""
    return frozenset(name.lower() for name in _FUNCTION.findall(_QUOTED.sub("``", expression)))


def is_time_window(expression: str) -> bool:
    """Say whether an expression is a window or session window over event time, and no part of one.

    A window's start or end is a value like any other.
    """
    if _SPELT_OUT.match(expression):
        return True
    match = _WINDOW.match(expression)
    return match is not None and not _inside(expression[match.end() :])[1].strip()


def call(expression: str) -> tuple[str, str]:
    """Split `sum(s0.v)` into `("sum", "s0.v")`; `distinct` and filters stay with the arguments."""
    text = expression.strip()
    if match := _CALL.match(text):
        return match["name"].lower(), match["args"].strip()
    name, _, rest = text.partition("(")
    return name.strip().lower(), rest.strip()


def call_of(expression: str) -> tuple[str, str] | None:
    """Split an expression that is one call as a whole; None for anything else, as `f(a) + g(b)`."""
    text = expression.strip()
    match = _NAME.match(text)
    if match is None:
        return None
    inside, rest = _inside(text[match.end() :])
    return (match["name"].lower(), inside) if text.endswith(")") and not rest else None


def without_casts(expression: str) -> str:
    """Strip casts around the whole expression: `cast(s0.v as double)` reads `s0.v`."""
    text = expression.strip()
    while match := _CAST.match(text):
        text = match["inner"].strip()
    return text


def without_names(expression: str) -> str:
    """Leave out what names the fields of a struct: the engine compares structs by position.

    What has no names any more stays as it is.
    """
    out, rest = [], expression
    while match := _NAMED_STRUCT.search(rest):
        inside, rest_after = _inside(rest[match.end() :])
        values = [without_names(v) for v in split_arguments(inside)[1::2]]
        out += [rest[: match.start()], f"struct({', '.join(values)})"]
        rest = rest_after
    return "".join([*out, rest])


def _inside(text: str) -> tuple[str, str]:
    """Split after an opened bracket: the text inside, and the text after its end."""
    depth = 1
    for index, mark in _marks(text):
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0:
            return text[:index], text[index + 1 :]
    return text, ""


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the brackets and commas outside quoted names, each after its index."""
    for match in _MARK.finditer(text):
        if match.group()[0] != "`":
            yield match.start(), match.group()


def split_arguments(text: str) -> list[str]:
    """Return the parts between commas that are outside all brackets."""
    parts, depth, start = [], 0, 0
    for index, mark in _marks(text):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def pairwise_related(before: str, after: str) -> bool:
    """Say whether two lists of arguments read, at each position, a column in common, or none.

    The fields of a struct are positions, too: the engine compares and stores them in their order.
    """
    old, new = _items(before), _items(after)
    if old != new and sorted(old) == sorted(new):
        # The same values at other positions.
        return False
    if len(old) != len(new):
        return _shares(before, after)
    return all(_shares(b, a) for b, a in zip(old, new, strict=True))


def _items(arguments: str) -> list[str]:
    parts = split_arguments(arguments)
    if len(parts) == 1 and (match := _STRUCT.match(parts[0])):
        inside, rest = _inside(parts[0][match.end() :])
        return parts if rest.strip() else split_arguments(inside)
    return parts


def _shares(before: str, after: str) -> bool:
    old, new = columns(before), columns(after)
    return bool(old & new) or not old or not new


def recast(expression: str, inner: str) -> bool:
    """Say whether an expression casts `inner` to text or a wide integer and back, losing nothing.

    Only for expressions of one type: the outer cast is then back to the type of `inner`.
    """
    match = _RECAST.match(expression.strip())
    return match is not None and match["inner"] == inner


def guards(expression: str, inner: str) -> bool:
    """Say whether an expression only replaces null in `inner`, as `coalesce(inner, ...)` does."""
    if not _GUARD.match(expression):
        return False
    _, args = call(expression)
    return args.startswith(f"{inner},")
