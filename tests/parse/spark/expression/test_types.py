"""Types and nullability of expressions, as Spark 4.2.0 plans them."""

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
        ("CASE WHEN (k#1 = B) THEN n#5 ELSE 0 END", "long", True),
        ("CASE WHEN (k#1 = B) THEN 1 ELSE 0 END", "integer", False),
        ("CASE WHEN (k#1 = B) THEN n#5 ELSE k#2 END", None, True),
    ],
)
def test_type_and_nullability(text, kind, nullable):
    assert typed(parse(text), COLUMNS.get) == TypedColumn(kind, nullable)
