"""Types and nullability of expressions, as Spark 4.2.0 plans them."""

import json
from pathlib import Path

import pytest

from headgate.parse.spark.explain.printed_plan import TypedColumn
from headgate.parse.spark.expression.parse import parse
from headgate.parse.spark.expression.types import typed

COLUMNS = {
    1: TypedColumn("string", True),
    2: TypedColumn("string", False),
    3: TypedColumn("decimal(10,2)", True),
    4: TypedColumn("array", True),
    5: TypedColumn("long", True),
    6: TypedColumn("timestamp", True),
    7: TypedColumn("date", False),
}


@pytest.mark.parametrize(
    ("text", "kind", "nullable"),
    [
        ("concat_ws(-, k#1, k#2)", "string", False),
        ("concat_ws(, k#1)", "string", False),
        ("concat_ws(k#1, k#2)", "string", True),
        ("format_string(%s, k#1)", "string", False),
        ("concat(k#2, -, k#1)", "string", True),
        ("typeof(k#1)", "string", False),
        ("substring_index(k#1, -, 1)", "string", True),
        ("split(k#2, -, -1)[0]", "string", True),
        ("split(k#2, -, -1)[(length(k#2) - 1)]", "string", None),
        ("size(split(k#1, -, -1), true)", "integer", False),
        ("size(split(k#1, -, -1), false)", "integer", True),
        ("size(split(k#2, -, -1), false)", "integer", False),
        ("round(p#3, 1)", "decimal(10,1)", True),
        ("round(p#3, 4)", "decimal(11,2)", True),
        ("(p#3 * 2)", "decimal(12,2)", True),
        ("(p#3 * 1.25)", "decimal(14,4)", True),
        ("(p#3 + p#3)", "decimal(11,2)", True),
        ("(p#3 - cast(k#1 as decimal(4,3)))", "decimal(12,3)", True),
        ("(p#3 / 2)", None, True),
        ("(cast(k#1 as decimal(38,2)) * p#3)", None, True),
        ("(t#6 - t#6)", "interval day to second", True),
        ("(d#7 - d#7)", "interval day", False),
        ("(t#6 - INTERVAL '1' HOUR)", "timestamp", True),
        ("try_to_time(k#2, Some(HH:mm))", "time(6)", True),
        ("CASE WHEN (k#1 = B) THEN n#5 ELSE 0 END", "long", True),
        ("CASE WHEN (k#1 = B) THEN 1 ELSE 0 END", "integer", False),
        ("CASE WHEN (k#1 = B) THEN n#5 ELSE k#2 END", None, True),
    ],
)
def test_type_and_nullability(text, kind, nullable):
    assert typed(parse(text), COLUMNS.get) == TypedColumn(kind, nullable)


GOLDEN = Path(__file__).parents[3] / "golden" / "functions" / "spark_4.2.0.json"
MEASURED = json.loads(GOLDEN.read_text(encoding="utf-8"))["expressions"]
_ARRAY = {"type": "array", "containsNull": True}
_FIELDS = [
    {"name": "a", "type": "integer", "nullable": True, "metadata": {}},
    {"name": "b", "type": "string", "nullable": True, "metadata": {}},
]
# In the order of the recorder's columns: each without nulls, then with them.
KINDS = [
    *("integer", "long", "short", "double", "float", "string", "decimal(10,2)", "date"),
    *("timestamp", "boolean", "binary", _ARRAY | {"elementType": "integer"}),
    *(_ARRAY | {"elementType": kind} for kind in ("double", "string")),
    {"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True},
    {"type": "struct", "fields": _FIELDS},
]
MEASURED_COLUMNS = {
    2 * n + null: TypedColumn(kind, bool(null)) for n, kind in enumerate(KINDS) for null in (0, 1)
}
# The optimizer writes `try_add(i, i)` as `i + i`, whose text does not say that it gives null.
PRINTED_AS_ANOTHER = {"(i#0 + i#0)", "(i#0 - i#0)", "(i#0 * i#0)"}


def _guess(one):
    return typed(parse(one["text"]), MEASURED_COLUMNS.get)


def test_no_type_contradicts_what_spark_says():
    wrong = []
    for one in MEASURED:
        found = _guess(one)
        is_other = found.type is not None and one["type"] is not None and found.type != one["type"]
        modes = [one[mode] for mode in ("ansi", "no_ansi") if one.get(mode) is not None]
        is_null = found.nullable is not None and any(null != found.nullable for null in modes)
        if is_other or is_null:
            wrong.append((one["text"], found, one))
    assert {text for text, *_ in wrong} <= PRINTED_AS_ANOTHER, wrong


def test_most_types_are_known():
    known = [one for one in MEASURED if None not in (_guess(one).type, _guess(one).nullable)]
    assert len(known) > 0.75 * len(MEASURED)
