"""The type and the nullability of an expression, as far as its text shows them.

Source: `dataType` and `nullable` of Spark's expression classes, 3.5 to 4.2. What is not in the
tables is unknown, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headgate.parse.spark.explain.arguments import whole
from headgate.parse.spark.explain.odd_names import decode
from headgate.parse.spark.explain.printed_plan import TypedColumn
from headgate.parse.spark.expression import decimals
from headgate.parse.spark.expression.function_types import (
    any_null,
    element,
    nullable,
    plain,
    result,
)
from headgate.parse.spark.expression.term import Term
from headgate.parse.spark.expression.type_names import struct_field

UNKNOWN = TypedColumn(None, None)
Attributes = Callable[[int], TypedColumn | None]


_SQL_WORDS = {
    "int": "integer",
    "bigint": "long",
    "smallint": "short",
    "tinyint": "byte",
}
_WHOLE = ("byte", "short", "integer", "long")
_RANK = (*_WHOLE, "float", "double")
_COMPARISONS = frozenset(
    ["=", "==", "<", "<=", ">", ">=", "AND", "OR", "LIKE", "ILIKE", "RLIKE", "IN"]
)
_CONVERTED = {"TimestampType": "timestamp", "TimestampNTZType": "timestamp_ntz", "LongType": "long"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?)?")
_FRACTION = re.compile(r"-?\d+\.\d+")
_TIME = {"type": "timestamp", "nullable": True, "metadata": {}}
WINDOW = {
    "type": "struct",
    "fields": [{"name": "start", **_TIME}, {"name": "end", **_TIME}],
}


def typed(term: Term, attributes: Attributes) -> TypedColumn:
    """Return what is known of an expression; UNKNOWN parts are None."""
    match term.kind:
        case "attribute":
            return (attributes(term.id) if term.id is not None else None) or UNKNOWN
        case "literal":
            return _literal(term.name)
        case "raw" if not term.args and "#" not in term.text:
            return TypedColumn(None, False)
        case "cast":
            return _cast(typed(term.args[0], attributes), sql_type(term.name))
        case "field":
            return _field(typed(term.args[0], attributes), term.name)
        case "call":
            return _call(term, attributes)
        case "binary":
            return _binary(term, attributes)
        case "not" | "case" | "item":
            return _of_parts(term, [typed(a, attributes) for a in term.args])
    return UNKNOWN


def _of_parts(term: Term, parts: list[TypedColumn]) -> TypedColumn:
    if term.kind == "case":
        return _case(term, parts)
    if term.kind == "item":
        return _item(term, parts[0])
    return TypedColumn("boolean", parts[0].nullable)


def _item(term: Term, base: TypedColumn) -> TypedColumn:
    """Return the type of `split(k, -, -1)[0]`: an element at a fixed index may be absent, so null.

    At a computed index ANSI mode decides, which the text does not show. Source:
    `GetArrayItem.nullable`.
    """
    if isinstance(base.type, dict) and base.type.get("type") == "map":
        return TypedColumn(element(base.type), True)
    array = base.type if isinstance(base.type, dict) and base.type.get("type") == "array" else {}
    fixed = bool(array) and whole(term.args[1].text) is not None and term.args[0].name != "array"
    return TypedColumn(array.get("elementType"), True if fixed else None)


def sql_type(text: str) -> Any:
    """Return Spark's JSON type of a SQL type; None where it is nested or not known."""
    word = text.strip().lower().replace(" ", "")
    if "<" in word:
        return None
    return _SQL_WORDS.get(word, word)


def _literal(text: str) -> TypedColumn:
    if text == "null":
        return TypedColumn(None, True)
    if text in ("true", "false"):
        return TypedColumn("boolean", False)
    if (number := whole(text)) is not None:
        return TypedColumn("integer" if abs(number) < 2**31 else "long", False)
    # A date, and a text that looks like one, are printed in the same way.
    if _FRACTION.fullmatch(text) or _DATE.fullmatch(text):
        return TypedColumn(None, False)
    return TypedColumn("string", False)


def _cast(inner: TypedColumn, to: Any) -> TypedColumn:
    if inner.nullable is not False:
        return TypedColumn(to, inner.nullable)
    if to in (inner.type, "string"):
        return TypedColumn(to, False)
    if (kept := decimals.is_kept(inner.type, to)) is not None:
        return TypedColumn(to, not kept)
    if inner.type in ("boolean", *_RANK) and to in ("boolean", *_RANK):
        # Not a number, and infinity, are no whole numbers.
        is_fraction = inner.type in ("float", "double")
        return TypedColumn(to, is_fraction and to in _WHOLE)
    if inner.type == "string" and to is not None:
        return TypedColumn(to, to != "binary")
    if (inner.type, to) in (("timestamp", "date"), ("date", "timestamp")):
        return TypedColumn(to, False)
    return TypedColumn(to, None)


def _field(base: TypedColumn, name: str) -> TypedColumn:
    fields = base.type.get("fields", ()) if isinstance(base.type, dict) else ()
    found = next((f for f in fields if decode(f["name"]) == decode(name)), None)
    if found is None:
        return UNKNOWN
    return TypedColumn(found["type"], any_null([base.nullable, found.get("nullable")]))


def _call(term: Term, attributes: Attributes) -> TypedColumn:
    name = plain(term.name)
    if name in ("window", "sessionwindow"):
        return TypedColumn(WINDOW, False)
    if name == "some":
        # An option of the function, such as Some(UTC).
        return TypedColumn(None, False)
    parts = [typed(a, attributes) for a in term.args]
    if name in ("struct", "namedstruct"):
        return _struct(term, parts)
    if name == "fromjson":
        return _parsed(term)
    if name in ("round", "bround") and parts and "decimal" in str(parts[0].type):
        return TypedColumn(decimals.rounded(term, parts[0].type), True)
    if name == "size" and len(parts) == 2:
        # With `true` the size of null is -1, which is no null.
        kept = term.args[1].text == "true"
        return TypedColumn("integer", False if kept else parts[0].nullable)
    if name == "size" and parts and parts[0].nullable:
        return TypedColumn("integer", None)
    if name == "precisetimestampconversion" and len(parts) == 3:
        return TypedColumn(_CONVERTED.get(term.args[2].text), parts[0].nullable)
    return TypedColumn(result(name, parts), nullable(name, parts))


def _parsed(term: Term) -> TypedColumn:
    """Read `from_json(StructField(k,StringType,true), ..., text)`: a row that may be null."""
    given = [a.text for a in term.args if a.name == "StructField"]
    fields = [struct_field(text) for text in given]
    if not fields or None in fields:
        return TypedColumn(None, True)
    return TypedColumn({"type": "struct", "fields": fields}, True)


def _struct(term: Term, parts: list[TypedColumn]) -> TypedColumn:
    """Read `struct(a, x, b, y)`: names and values in turn."""
    names = [a.text for a in term.args[::2]]
    values = parts[1::2]
    if len(names) != len(values) or any(v.type is None for v in values):
        return TypedColumn(None, False)
    fields = [
        {"name": n, "type": v.type, "nullable": v.nullable, "metadata": {}}
        for n, v in zip(names, values, strict=True)
    ]
    return TypedColumn({"type": "struct", "fields": fields}, False)


def _binary(term: Term, attributes: Attributes) -> TypedColumn:
    left, right = (typed(a, attributes) for a in term.args)
    nullable = any_null([left.nullable, right.nullable])
    if term.name in _COMPARISONS:
        return TypedColumn("boolean", nullable)
    if term.name == "<=>":
        return TypedColumn("boolean", False)
    if term.name == "||":
        return TypedColumn("string", nullable)
    if term.name in ("/", "%", "div"):
        nullable = True
    kinds = [_beside(a, b) for a, b in zip(term.args, (right.type, left.type), strict=True)]
    known = [k if k is not None else t.type for k, t in zip(kinds, (left, right), strict=True)]
    if decimal := decimals.combined(term, known):
        # Too large a result may be null, by the mode that the text does not show.
        return TypedColumn(decimal, nullable or None)
    return TypedColumn(_arithmetic(term.name, *known), nullable)


def _beside(term: Term, other: Any) -> Any:
    """Return the type of a fraction beside a double: analysis has made both of one type."""
    if other in ("float", "double") and term.kind == "literal" and _FRACTION.fullmatch(term.name):
        return other
    return None


# What one point in time less another is.
_BETWEEN = {
    "timestamp": "interval day to second",
    "timestamp_ntz": "interval day to second",
    "date": "interval day",
}


def _arithmetic(name: str, left: Any, right: Any) -> Any:
    if name == "-" and left == right and left in _BETWEEN:
        return _BETWEEN[left]
    if left in ("timestamp", "date") and name in "+-" and right != left:
        return left
    if left in _RANK and right in _RANK:
        if name == "/":
            return "double"
        return _RANK[max(_RANK.index(left), _RANK.index(right))]
    return None


def _case(term: Term, parts: list[TypedColumn]) -> TypedColumn:
    """Read condition, value, condition, value, ..., else.

    Analysis gives all values one type, and prints a number of it without: `0` may be a long.
    """
    chosen = [*range(1, len(parts), 2), *([len(parts) - 1] if len(parts) % 2 else [])]
    values = [parts[n] for n in chosen]
    given = [parts[n].type for n in chosen if term.args[n].kind != "literal"]
    kinds = [k for k in given if k is not None] or [v.type for v in values if v.type is not None]
    kind = kinds[0] if kinds and all(k == kinds[0] for k in kinds) else None
    without_else = len(parts) % 2 == 0
    nullable = True if without_else else any_null([v.nullable for v in values])
    return TypedColumn(kind, nullable)
