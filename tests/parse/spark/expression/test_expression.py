"""Expressions: one text for one meaning."""

import pytest

from headgate.parse.spark.expression.parse import parse, references
from headgate.parse.spark.expression.term import LONGEST, term
from headgate.parse.spark.operators.facts import conjuncts
from headgate.parse.spark.state.operators import window_of

CASES = [
    ("k#1", "k"),
    ("ts#1-T10000ms", "ts"),
    ("c#2L", "c"),
    ("my column#3", "my column"),
    ("count(1)#17L AS c#4L", "count(1)"),
    ("j#1.k.x AS k#2", "j.k.x"),
    ("a#1[0].x", "a[0].x"),
    ("-v#1", "-(v)"),
    ("(k#1 = hello world)", "(k = hello world)"),
    ("NOT (k#1 IN (a,b))", "NOT (k IN [a, b])"),
    ("(NOT (a#1 = b) AND (c#2 >= 3))", "(NOT (a = b) AND (c >= 3))"),
    ("(NOT k#1 IN (a,b) AND (c#2 >= 3))", "(NOT (k IN [a, b]) AND (c >= 3))"),
    ("(k#1 IN (a,b) AND isnotnull(c#2))", "((k IN [a, b]) AND isnotnull(c))"),
    ("(k#1 LIKE a% OR NOT k#1 LIKE %b)", "((k LIKE a%) OR NOT (k LIKE %b))"),
    ("(NOT flag#1 = other#2)", "(NOT flag = other)"),
    ("cast(v#1 as decimal(10,2))", "cast(v as decimal(10,2))"),
    ("cast(s#1 as struct<a:int,b:map<string,int>>)", "cast(s as struct<a:int,b:map<string,int>>)"),
    ("cast(0 as bigint)", "0"),
    ("between(a#1, b#2, c#3)", "((a >= b) AND (a <= c))"),
    ("knownnullable(x#1)", "x"),
    ("cast(t#1 + INTERVAL '02' SECOND as timestamp)", "(t + INTERVAL '2' SECOND)"),
    ("count(distinct v#1)", "count(distinct v)"),
    ("sum(v#1) FILTER (WHERE (v#1 > 3))", "sum(v) FILTER (WHERE (v > 3))"),
    ("CASE WHEN (v#1 < 0) THEN a ELSE b END", "CASE((v < 0), a, b)"),
    (
        "CASE WHEN (v#1 < 0) THEN a ELSE CASE WHEN (v#1 < 9) THEN b ELSE c END END",
        "CASE((v < 0), a, CASE((v < 9), b, c))",
    ),
    ("struct(a, k#1, b, v#2)", "named_struct(a, k, b, v)"),
    ("coalesce(d#1, )", "coalesce(d, )"),
    ("(NOT (k#1 = ) AND isnotnull(k#1))", "(NOT (k = ) AND isnotnull(k))"),
    ("CASE WHEN (k#1 = a) THEN  ELSE k#1 END", "CASE((k = a), , k)"),
]


@pytest.mark.parametrize(("text", "normal"), CASES, ids=[c[0] for c in CASES])
def test_normal_text(text, normal):
    assert parse(text).text == normal


def test_attributes_are_replaced_by_what_they_stand_for():
    known = {7: parse("(s0.a + 1)")}
    found = parse("sum(x#7)", lambda number, name: known.get(number))
    assert found.text == "sum((s0.a + 1))"


def test_conjuncts_come_in_order():
    assert [c.text for c in conjuncts(parse("((a#1 AND b#2) AND c#3)"))] == ["a", "b", "c"]


def test_not_reaches_no_further_than_its_own_operand():
    found = parse("(NOT (a#1 = b) AND (c#2 >= 3))")
    assert [c.text for c in conjuncts(found)] == ["NOT (a = b)", "(c >= 3)"]


WINDOW = (
    "named_struct(start, precisetimestampconversion(((precisetimestampconversion(ts#1,"
    " TimestampType, LongType) - CASE WHEN (((precisetimestampconversion(ts#1, TimestampType,"
    " LongType) - 2000000) % 5000000) < 0) THEN 1 ELSE 2 END) - 0), LongType, TimestampType),"
    " end, precisetimestampconversion((((precisetimestampconversion(ts#1, TimestampType, LongType)"
    " - CASE WHEN (((precisetimestampconversion(ts#1, TimestampType, LongType) - 2000000)"
    " % 5000000) < 0) THEN 1 ELSE 2 END) - 0) + 10000000), LongType, TimestampType))"
)


def test_a_time_window_is_recognised():
    found = window_of((parse(WINDOW),))
    assert (found.column, found.size_us, found.slide_us) == ("ts", 10_000_000, 5_000_000)
    assert found.start_us == 2_000_000


def test_a_session_window_is_recognised():
    text = (
        "named_struct(start, precisetimestampconversion(precisetimestampconversion(ts#1,"
        " TimestampType, LongType), LongType, TimestampType), end, precisetimestampconversion("
        "precisetimestampconversion(cast(ts#1 + cast(5 seconds as interval) as timestamp),"
        " TimestampType, LongType), LongType, TimestampType))"
    )
    found = window_of((parse(text),))
    assert (found.column, found.session_gap) == ("ts", "5 seconds")


def test_a_text_that_doubles_with_every_step_stays_small():
    found = parse("a#1")
    for _ in range(200):
        found = term("binary", "+", (found, found))
    assert len(found.text) <= LONGEST


def test_references():
    assert references("sum((v#12L * k#3))") == {12, 3}


@pytest.mark.parametrize("text", ["(" * 9000, ")" * 9000, "NOT " * 9000, "a = " * 9000, "CASE"])
def test_nonsense_is_kept_as_words(text):
    assert isinstance(parse(text).text, str)


def test_deep_nesting_is_no_recursion():
    depth = 20_000
    assert parse("f(" * depth + "x#1" + ")" * depth).kind == "call"
