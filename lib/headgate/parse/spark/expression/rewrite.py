"""Write what means the same in one way, whatever the optimiser made of it."""

from __future__ import annotations

import re

from headgate.parse.spark.expression.term import Term, term

_NUMBER = re.compile(r"^-?\d+$")
_TRANSPARENT = frozenset(("knownnullable", "knownnotnull", "normalizenanandzero"))
_EXACT = frozenset(("bigint", "int", "smallint", "tinyint"))


def rewrite(found: Term) -> Term:
    """Return the normal form of one term whose parts are normal already."""
    if found.kind == "cast":
        return _cast(found)
    if found.kind != "call":
        return found
    if found.name in _TRANSPARENT and len(found.args) == 1:
        return found.args[0]
    if found.name == "knownfloatingpointnormalized" and len(found.args) == 1:
        return found.args[0]
    if found.name == "between" and len(found.args) == 3:
        return _between(*found.args)
    if found.name == "struct":
        return term("call", "named_struct", found.args)
    if found.name == "named_struct":
        return _window(found) or found
    if found.name.endswith("aggregator") and "@" in (found.args[0].text if found.args else ""):
        # A typed aggregation: its arguments are Java objects, called otherwise in each JVM.
        return term("call", found.name)
    return found


def _cast(found: Term) -> Term:
    (inner,) = found.args
    if found.name in _EXACT and _NUMBER.match(inner.text):
        return inner
    if found.name == "timestamp" and _adds_interval(inner):
        return inner
    if found.name == "interval" and inner.kind == "raw":
        return inner
    return found


def _adds_interval(found: Term) -> bool:
    return found.kind == "binary" and found.name in "+-" and _is_interval(found.args[1])


def _is_interval(found: Term) -> bool:
    return found.text.startswith("INTERVAL ") or bool(re.match(r"^-?\d+ [a-z]+", found.text))


def _between(value: Term, low: Term, high: Term) -> Term:
    above, below = term("binary", ">=", (value, low)), term("binary", "<=", (value, high))
    return term("binary", "AND", (above, below))


def _window(found: Term) -> Term | None:
    """Recognise `window` and `session_window` in what Spark's TimeWindowing made of them."""
    if len(found.args) != 4 or (found.args[0].text, found.args[2].text) != ("start", "end"):
        return None
    start, end = _converted(found.args[1]), _converted(found.args[3])
    if start is None or end is None:
        return None
    if start.kind == "call" and end.kind == "call":
        return _session(start, end)
    return _tumbling(start, end)


def _converted(found: Term) -> Term | None:
    if found.kind == "call" and found.name == "precisetimestampconversion" and found.args:
        return found.args[0]
    return None


def _session(start: Term, end: Term) -> Term | None:
    column, until = _converted(start), _converted(end)
    if column is None or until is None:
        return None
    if until.kind == "cast" and until.name == "timestamp":
        until = until.args[0]
    if until.kind == "binary" and until.name == "+" and until.args[0].text == column.text:
        gap = until.args[1]
        plain = gap.args[0] if gap.kind == "cast" and gap.name == "interval" else gap
        return term("call", "session_window", (column, plain))
    if until.kind == "binary" and until.name == "+":
        return term("call", "session_window", (column, until))
    return term("call", "session_window", (column, until))


def _tumbling(start: Term, end: Term) -> Term | None:
    """`lastStart - i * slide` and that plus the size; `lastStart` holds slide and offset."""
    if not (_is(start, "-") and _is(end, "+") and _is(start.args[0], "-")):
        return None
    last = start.args[0]
    column, case = _converted(last.args[0]), last.args[1]
    if column is None or case.kind != "case" or not _is(case.args[0], "<"):
        return None
    remainder = case.args[0].args[0]
    if not (_is(remainder, "%") and _is(remainder.args[0], "-")):
        return None
    size, slide, offset = end.args[1], remainder.args[1], remainder.args[0].args[1]
    return term("call", "window", (column, size, slide, offset))


def _is(found: Term, operator: str) -> bool:
    return found.kind == "binary" and found.name == operator
