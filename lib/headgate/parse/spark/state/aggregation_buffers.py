"""The buffers that aggregate functions keep in state, in their order.

Source: `aggBufferAttributes` of each function; their nullability is fixed by the function.
"""

from __future__ import annotations

import re
from typing import Any

from headgate.model.state_schema import Field
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.expression.types import Attributes, typed

_MODE = re.compile(r"^(?:partial|merge|finalmerge)_")
_INTEGRAL = frozenset(("byte", "short", "integer", "long"))
_DECIMAL = re.compile(r"decimal\((\d{1,9}),(-?\d{1,9})\)")
_MOMENTS = frozenset(["stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop"])
# Sums that several passes agree on: each has its own number of doubles, none ever null.
_CENTRAL = {
    "skewness": ("n", "avg", "m2", "m3"),
    "kurtosis": ("n", "avg", "m2", "m3", "m4"),
    "covar_samp": ("n", "xAvg", "yAvg", "ck"),
    "covar_pop": ("n", "xAvg", "yAvg", "ck"),
    "corr": ("n", "xAvg", "yAvg", "ck", "xMk", "yMk"),
    "regr_r2": ("n", "xAvg", "yAvg", "ck", "xMk", "yMk"),
    "regr_slope": ("n", "xAvg", "yAvg", "ck", "n", "avg", "m2"),
    "regr_intercept": ("n", "xAvg", "yAvg", "ck", "n", "avg", "m2"),
}
_AS_INPUT = frozenset(
    ["min", "max", "bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "every", "some"]
)
_FIRST = frozenset(["first", "last", "any_value", "first_value", "last_value"])


def buffer_fields(functions: list[str], names: list[str], attributes: Attributes) -> list[Field]:
    """Return the stored fields of `functions`; `names` are the stored columns as planned.

    Where a function is not known, or the names are not what it stores, the rest of the fields is
    of unknown type: their number is all that is certain.
    """
    out: list[Field] = []
    for text in functions:
        rest = names[len(out) :]
        fields = _fields(_call(text), attributes) or _sketch(rest) or _opaque(rest)
        planned = names[len(out) : len(out) + len(fields or ())]
        if fields is None or [f.name for f in fields] != planned:
            break
        out.extend(fields)
    return out + [Field(n, None, None) for n in names[len(out) :]]


def _sketch(names: list[str]) -> list[Field] | None:
    """Return the words of an `approx_count_distinct`, as many as its precision needs."""
    words_ = [n for n in names if n.startswith("MS[")]
    return [Field(n, "long", True) for n in words_] or None


def _opaque(names: list[str]) -> list[Field] | None:
    """Return the bytes of a function that keeps an object: Spark calls them all `buf`."""
    return [Field("buf", "binary", True)] if names[:1] == ["buf"] else None


def _call(text: str) -> Term:
    term = parse(text)
    return term.args[0] if term.kind == "filter" else term


def _fields(term: Term, attributes: Attributes) -> list[Field] | None:
    name = _MODE.sub("", term.name.lower())
    arguments = [a.args[0] if a.kind == "distinct" else a for a in term.args]
    kind = typed(arguments[0], attributes).type if arguments else None
    if name == "count":
        return [Field("count", "long", False)]
    if name in ("sum", "try_sum"):
        return _sum(kind)
    if name in ("avg", "mean", "try_avg"):
        return [Field("sum", _average(kind), True), Field("count", "long", True)]
    if name in _AS_INPUT:
        return [Field(name, kind, True)]
    if name in _FIRST:
        short = "last" if name.startswith("last") else "first"
        return [Field(short, kind, True), Field("valueSet", "boolean", True)]
    if name in _MOMENTS:
        return [Field(n, "double", False) for n in ("n", "avg", "m2")]
    if name in _CENTRAL:
        return [Field(n, "double", False) for n in _CENTRAL[name]]
    if name in ("max_by", "min_by") and len(arguments) == 2:
        order = typed(arguments[1], attributes).type
        return [
            Field("valueWithExtremumOrdering", kind, True),
            Field("extremumOrdering", order, True),
        ]
    return None


def argument_types(functions: list[str], attributes: Attributes) -> tuple[str | None, ...]:
    """Return the type of each function's first argument as text, None where it is not known."""
    calls = [_call(f) for f in functions]
    kinds = [typed(c.args[0], attributes).type if c.args else None for c in calls]
    return tuple(None if k is None else str(k) for k in kinds)


def _sum(kind: Any) -> list[Field]:
    if isinstance(kind, str) and (match := _DECIMAL.fullmatch(kind)):
        wide = f"decimal({min(int(match[1]) + 10, 38)},{match[2]})"
        return [Field("sum", wide, True), Field("isEmpty", "boolean", False)]
    if kind in _INTEGRAL:
        return [Field("sum", "long", True)]
    if isinstance(kind, str) and kind.startswith("interval "):
        return [Field("sum", kind, True)]
    return [Field("sum", "double" if kind in ("float", "double", "string") else None, True)]


def _average(kind: Any) -> Any:
    if isinstance(kind, str) and (match := _DECIMAL.fullmatch(kind)):
        return f"decimal({min(int(match[1]) + 10, 38)},{match[2]})"
    return "double" if kind in _INTEGRAL or kind in ("float", "double", "string") else None
