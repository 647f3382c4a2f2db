"""Keys that are written otherwise: which give the same state key, and which don't."""

from dataclasses import replace

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.spark.facts.same_values import normalized
from rules.build import K, aggregate, files, version

DAY = "date_format(s0.ts, yyyy-MM-dd, Some(UTC))"
WRITTEN = (
    "cast(gettimestamp(date_format(s0.ts, {}, Some(UTC)), {}, TimestampType, try_to_date, "
    "Some(UTC), true) as date)"
)
UNIX = "from_unixtime(unix_timestamp(s0.ts, {}, Some(UTC), true), yyyy-MM-dd, Some(UTC))"
NAMED = {"spark.sql.streaming.queryEvolution.enableSourceEvolution": "true"}


def _judge(old, new):
    return compare(version(aggregate(keys=(old,))), version(aggregate(keys=(new,))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (DAY, "cast(cast(s0.ts as date) as string)"),
        (DAY, "cast(to_date(s0.ts, Some(UTC)) as string)"),
        (DAY, "substring(cast(s0.ts as string), 1, 10)"),
        (DAY, "date_format(date_trunc(HOUR, s0.ts, Some(UTC)), yyyy-MM-dd, Some(UTC))"),
        (DAY, UNIX.format("yyyy-MM-dd HH:mm:ss")),
        ("cast(year(cast(s0.ts as date)) as string)", "date_format(s0.ts, yyyy, Some(UTC))"),
        ("split(s0.k, -, -1)[0]", "substring_index(s0.k, -, 1)"),
        ("regexp_replace(s0.k, a, b, 1)", "replace(s0.k, a, b)"),
        ("translate(s0.k, a, b)", "replace(s0.k, a, b)"),
        ("trim(s0.d, None)", "ltrim(rtrim(s0.d, None), None)"),
        ("upper(trim(s0.d))", "trim(upper(s0.d))"),
        ("CASE(isnull(s0.d), none, s0.d)", "coalesce(s0.d, none)"),
        ("concat_ws(, s0.d)", "coalesce(s0.d, )"),
        ("CASE(isnotnull(s0.d), s0.d)", "s0.d"),
        ("CASE(isnull(s0.d), null, s0.d)", "s0.d"),
        ("coalesce(s0.d, s0.d)", "s0.d"),
        ("concat(s0.d, )", "s0.d"),
        ("trim(trim(s0.d, None), None)", "trim(s0.d, None)"),
        ("concat(s0.k, , s0.d)", "concat(s0.k, s0.d)"),
        ("cast(s0.ts as date)", "cast(date_trunc(day, s0.ts, Some(UTC)) as date)"),
        ("cast(s0.ts as date)", "cast(date_trunc(HOUR, s0.ts, Some(UTC)) as date)"),
        ("to_date(s0.ts, None, Some(UTC), true)", "cast(date_trunc(dd, s0.ts) as date)"),
        ("trunc(cast(s0.ts as date), MM)", "cast(date_trunc(MONTH, s0.ts, Some(UTC)) as date)"),
        ("cast(s0.ts as date)", WRITTEN.format("yyyy-MM-dd", "yyyy-MM-dd")),
        ("hour(s0.ts, Some(UTC))", "extract(HOUR, s0.ts)"),
        ("dayofweek(cast(s0.ts as date))", "date_part(dow, cast(s0.ts as date))"),
        ("left(s0.k, 3)", "substring(s0.k, 1, 3)"),
        ("timestamp_seconds(s0.v)", "cast(s0.v as timestamp)"),
        (
            "upper(split(s0.k, -, -1)[0])",
            "upper(element_at(stringsplitsql(s0.k, -), 1, Some(), false))",
        ),
        ("get_json_object(s0.d, $.fee)", "json_tuple(s0.d, kind, fee).1"),
        ("CASE((s0.k IN [?, -]), null, s0.k)", "CASE((s0.k = -), null, (s0.k = ?), null, s0.k)"),
        (
            "inline(array(named_struct(a, s0.k, b, s0.v), named_struct(a, s0.d, b, 1))).0",
            "inline(array(named_struct(a, s0.k, c, 3), named_struct(a, s0.d, c, s0.v))).0",
        ),
        ("stack(2, s0.k, s0.v, s0.d, 1).0", "stack(2, s0.k, 7, 1, s0.d, 0, s0.v).0"),
        ("explode(map(a, s0.v, s0.k, 1)).0", "explode(map(a, 5, s0.k, s0.v)).0"),
    ],
)
def test_functions_that_give_the_same_text_keep_the_state(old, new):
    assert _judge(old, new).findings == ()
    assert _judge(new, old).findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("concat(s0.k, -, s0.d)", "concat_ws(-, s0.k, s0.d)"),
        ("s0.d", "concat_ws(-, s0.d)"),
        ("cast(s0.v as string)", "format_string(%d, s0.v)"),
        ("size(s0.a, true)", "size(s0.a, false)"),
    ],
)
def test_functions_that_differ_for_null_alone(old, new):
    found = _judge(old, new).findings
    assert [(f.rule, f.outcome, f.state_effect) for f in found] == [
        ("AGG001", Outcome.RESUMES, StateEffect.MIXED)
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (DAY, "date_format(s0.other, yyyy-MM-dd, Some(UTC))"),
        (DAY, "date_format(s0.ts, yyyy-MM, Some(UTC))"),
        (DAY, "substring(cast(s0.ts as string), 1, 7)"),
        (
            "date_format(date_trunc(HOUR, s0.ts), HH:mm)",
            "date_format(s0.ts, HH:mm)",
        ),
        ("upper(s0.d)", "initcap(s0.d)"),
        ("concat(s0.k, s0.d)", "concat(s0.d, s0.k)"),
        ("round(s0.v, 0)", "floor(s0.v)"),
        ("s0.k", "upper(s0.k)"),
        ("from_json(cast(s0.value as string)).other", "s0.k"),
        ("substring(cast(s0.v as string), 1, 10)", "cast(s0.v as string)"),
        ("cast(date_trunc(MONTH, s0.ts) as date)", "cast(s0.ts as date)"),
        ("trunc(cast(s0.ts as date), MM)", "trunc(cast(s0.ts as date), YEAR)"),
        ("extract(HOUR, s0.ts)", "minute(s0.ts)"),
        (UNIX.format("dd/MM/yyyy"), UNIX.format("MM/dd/yyyy")),
        ("cast(s0.ts as date)", WRITTEN.format("yyyy-dd-MM", "yyyy-MM-dd")),
        ("cast(s0.ts as date)", WRITTEN.format("yyyy-MM", "yyyy-MM")),
    ],
)
def test_other_texts_are_other_keys(old, new):
    found = _judge(old, new).findings
    assert [(f.rule, f.outcome) for f in found] == [("AGG001", Outcome.SILENTLY_WRONG)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("split(s0.k, ., -1)[0]", "substring_index(s0.k, ., 1)"),
        ("split(s0.k, -, -1)[1]", "substring_index(s0.k, -, 1)"),
        ("regexp_replace(s0.k, [ab], c, 1)", "replace(s0.k, [ab], c)"),
        ("translate(s0.k, ab, c)", "replace(s0.k, ab, c)"),
        ("concat(s0.k, -, s0.d)", "concat_ws(+, s0.k, s0.d)"),
        ("CASE((s0.k = 1), a, b)", "coalesce(map(keys: [1], values: [a])[s0.k], b)"),
        ("from_json(cast(s0.value as string)).k", "s0.k"),
        ("CASE((s0.k IN [1, 2]), a, b)", "coalesce(static0.name, b)"),
    ],
)
def test_other_functions_of_the_same_columns_are_a_question(old, new):
    for found in (_judge(old, new).findings, _judge(new, old).findings):
        assert [(f.rule, f.outcome) for f in found] == [("AGG001", Outcome.UNKNOWN)]
        assert "return the same key" in found[0].question


def test_what_is_not_one_call_keeps_its_text():
    for text in ("(s0.v + 1)", "s0.k", "cast(s0.a as string) || cast(s0.b as string)"):
        assert normalized(text) == text


def _union(*names, branches=None):
    """Return a sum over named sources that come together in a union."""
    parts = branches or [f"s{n}.k" for n in range(len(names))]
    key = f"union({', '.join(parts)})" if len(names) > 1 else parts[0]
    read = tuple(files(n, f"/{name}", name=name) for n, name in enumerate(names))
    made = version(aggregate(keys=(key,), key=(K,)), sources=read)
    return replace(made, offset_log_version=2, pinned=NAMED)


def test_a_named_source_comes_or_goes_with_its_rows():
    for old, new in ((("a",), ("b", "a")), (("a", "b", "c"), ("b", "c")), (("a", "b"), ("a",))):
        report = compare(_union(*old), _union(*new))
        assert "AGG001" not in [f.rule for f in report.findings]


def test_the_key_of_a_source_that_stays_must_stay():
    report = compare(_union("a", "b"), _union("c", "a", branches=["s0.k", "s1.d"]))
    assert "AGG001" in [f.rule for f in report.findings if f.outcome is Outcome.SILENTLY_WRONG]


def test_a_constant_is_of_the_source_in_its_place():
    def regions(*names):
        return _union(*names, branches=list(names))

    def rules(old, new):
        return [f.rule for f in compare(old, new).findings]

    assert "AGG001" not in rules(regions("north", "south"), regions("east", "south", "north"))
    renamed = _union("north", "south", branches=["south", "north"])
    assert "AGG001" in rules(regions("north", "south"), renamed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CASE((s0.k IN [?, -]), null, s0.k)", "CASE((s0.k = -), null, (s0.d = ?), null, s0.k)"),
        ("CASE((s0.k = ?), a, (s0.k = -), b, c)", "CASE((s0.k = -), a, (s0.k = ?), b, c)"),
        ("CASE((s0.k = a, b), x, s0.k)", "CASE((s0.k IN [a, b]), x, s0.k)"),
        (
            "inline(array(named_struct(a, s0.k, b, s0.v), named_struct(a, s0.d, b, 1))).0",
            "inline(array(named_struct(a, s0.d, b, s0.v), named_struct(a, s0.k, b, 1))).0",
        ),
        ("named_struct(a, s0.k, b, s0.d)", "named_struct(a, s0.v, b, s0.d)"),
        ("stack(2, s0.k, s0.v, s0.d, 1).0", "stack(2, s0.d, s0.v, s0.k, 1).0"),
        ("explode(map(a, s0.v, b, 1)).0", "explode(map(a, s0.v, c, 1)).0"),
        ("explode(map(a, s0.v, b, 1)).1", "explode(map(a, s0.v, b, 2)).1"),
    ],
)
def test_other_values_of_a_list_a_struct_or_a_made_row_are_other_keys(old, new):
    assert _judge(old, new).findings
    assert _judge(new, old).findings
