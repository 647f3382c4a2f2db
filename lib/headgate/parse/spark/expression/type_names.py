"""Spark's three ways to write a type: JSON, SQL (`bigint`) and Scala (`LongType`)."""

from __future__ import annotations

import re
from typing import Any

from headgate.parse.spark.explain.arguments import split, whole

_SQL = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
_JSON = {sql: json for json, sql in _SQL.items()}
_SCALA = {
    "void": "NullType",
    "timestamp_ntz": "TimestampNTZType",
}
_FROM_SCALA = {
    "NullType": "void",
    "TimestampNTZType": "timestamp_ntz",
    "CalendarIntervalType": "interval",
}
_SIMPLE = frozenset(
    [
        "string",
        "boolean",
        "byte",
        "short",
        "integer",
        "long",
        "float",
        "double",
        "date",
        "timestamp",
        "timestamp_ntz",
        "binary",
        "void",
        "variant",
    ]
)
_DECIMAL = re.compile(r"^decimal\(\d+,\s*-?\d+\)$")
_INTERVAL = re.compile(r"^interval (?P<unit>day|hour|minute|second)$")
_UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_DEEPEST = 40


def sql_type(kind: Any) -> str:
    """Return a JSON type as SQL writes it: `bigint`, `struct<a:int>`.

    >>> sql_type("long")
    'bigint'
    """
    if not isinstance(kind, dict):
        return _SQL.get(str(kind), str(kind))
    match kind.get("type"):
        case "struct":
            fields = (f"{f['name']}:{sql_type(f['type'])}" for f in kind.get("fields", ()))
            return f"struct<{','.join(fields)}>"
        case "array":
            return f"array<{sql_type(kind.get('elementType'))}>"
        case "map":
            return f"map<{sql_type(kind.get('keyType'))},{sql_type(kind.get('valueType'))}>"
        case other:
            return str(other)


def scala_type(kind: Any) -> str:
    """Return a JSON type as Scala prints it: `LongType`."""
    if not isinstance(kind, dict):
        text = str(kind)
        if text.startswith("decimal("):
            return f"DecimalType{text.removeprefix('decimal')}"
        return _SCALA.get(text, f"{text.capitalize()}Type")
    match kind.get("type"):
        case "struct":
            fields = (
                f"StructField({f['name']},{scala_type(f['type'])},{str(f['nullable']).lower()})"
                for f in kind.get("fields", ())
            )
            return f"StructType({','.join(fields)})"
        case "array":
            nulls = str(kind.get("containsNull", True)).lower()
            return f"ArrayType({scala_type(kind.get('elementType'))},{nulls})"
        case "map":
            key, value = scala_type(kind.get("keyType")), scala_type(kind.get("valueType"))
            return f"MapType({key},{value},{str(kind.get('valueContainsNull', True)).lower()})"
        case other:
            return str(other)


def from_sql(text: str, depth: int = 0) -> Any:
    """Return the JSON type behind SQL's words, None where they are none.

    Nested fields come out nullable, as data types in DDL are.

    >>> from_sql("bigint")
    'long'
    """
    text = text.strip()
    if depth > _DEEPEST:
        return None
    if _DECIMAL.match(text):
        return text.replace(" ", "")
    if text in _JSON or text in _SIMPLE:
        return _JSON.get(text, text)
    head, _, inside = text.partition("<")
    if not inside.endswith(">"):
        return None
    return _nested(head, angle_split(inside[:-1]), depth + 1)


def _nested(head: str, parts: list[str], depth: int) -> Any:
    if head == "struct":
        fields = []
        for part in parts:
            name, _, kind = part.partition(":")
            inner = from_sql(kind, depth)
            if inner is None:
                return None
            fields.append({"name": name, "type": inner, "nullable": True, "metadata": {}})
        return {"type": "struct", "fields": fields}
    inner = [from_sql(p, depth) for p in parts]
    if None in inner:
        return None
    if head == "array" and len(inner) == 1:
        return {"type": "array", "elementType": inner[0], "containsNull": True}
    if head == "map" and len(inner) == 2:
        return {
            "type": "map",
            "keyType": inner[0],
            "valueType": inner[1],
            "valueContainsNull": True,
        }
    return None


def angle_split(text: str) -> list[str]:
    """Split at commas outside of angle and round brackets."""
    parts, depth, start = [], 0, 0
    for at, mark in enumerate(text):
        if mark in "<(":
            depth += 1
        elif mark in ">)":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def from_scala(text: str, depth: int = 0) -> Any:
    """Return the JSON type behind `LongType`, `StructType(StructField(c,LongType,true))`."""
    text = text.strip()
    if depth > _DEEPEST:
        return None
    if text in _FROM_SCALA:
        return _FROM_SCALA[text]
    head, bracket, inside = text.partition("(")
    if not bracket:
        word = text.removesuffix("Type").lower()
        return word if text.endswith("Type") and word in _SIMPLE else from_sql(text, depth)
    if head == "DecimalType":
        return f"decimal({inside}"
    parts = split(inside.removesuffix(")"))
    if head == "StructType":
        fields = [struct_field(p, depth + 1) for p in parts]
        return None if None in fields else {"type": "struct", "fields": fields}
    if head == "ArrayType" and parts:
        inner = from_scala(parts[0], depth + 1)
        nulls = parts[-1] != "false"
        return inner and {"type": "array", "elementType": inner, "containsNull": nulls}
    if head == "MapType" and len(parts) > 1:
        key, value = (from_scala(p, depth + 1) for p in parts[:2])
        return (
            key
            and value
            and {
                "type": "map",
                "keyType": key,
                "valueType": value,
                "valueContainsNull": parts[-1] != "false",
            }
        )
    return None


def struct_field(text: str, depth: int = 0) -> dict[str, Any] | None:
    """Return the JSON field behind `StructField(c,LongType,true)`."""
    head, _, inside = text.strip().partition("(")
    parts = split(inside.removesuffix(")"))
    if head != "StructField" or len(parts) < 3:
        return None
    kind = from_scala(parts[1], depth)
    if kind is None:
        return None
    return {"name": parts[0], "type": kind, "nullable": parts[2] == "true", "metadata": {}}


def interval_text(value: str, kind: str) -> str:
    """Return a literal interval as Spark prints it: microseconds in its one unit, else as it is."""
    match = _INTERVAL.match(kind)
    if match is None or (number := whole(value)) is None:
        return value
    unit = match["unit"]
    count = number / _UNITS[unit]
    text = str(int(count)) if count == int(count) else str(count)
    return f"INTERVAL '{text}' {unit.upper()}"
