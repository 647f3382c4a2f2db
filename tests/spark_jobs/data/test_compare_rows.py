"""Counts and samples of a comparison, against plain Python over generated rows."""

from __future__ import annotations

import pytest
from generated_rows import NAMES, SCHEMA, by_key, expected, expected_columns, plain, two_outputs

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def compared(spark):
    """Compare two lists of rows of SCHEMA, or two DataFrames."""
    from pyspark.sql.types import NullType

    from headgate.spark_jobs.data.compare_rows import (
        ComparedColumn,
        Comparison,
        KeyColumn,
        compare_rows,
    )

    def compare(a, b, keys=("id", "city"), tolerance=0.0, samples=20):
        one, other = (
            spark.createDataFrame(rows, SCHEMA) if isinstance(rows, list) else rows
            for rows in (a, b)
        )
        kinds = [{f.name: f.dataType for f in rows.schema} for rows in (one, other)]
        none = NullType()
        names = [n for n in dict.fromkeys((*kinds[0], *kinds[1])) if n not in keys]
        what = Comparison(
            [KeyColumn(k, kinds[0][k], kinds[1][k]) for k in keys],
            [ComparedColumn(n, kinds[0].get(n, none), kinds[1].get(n, none)) for n in names],
            tolerance,
            samples,
        )
        return compare_rows(one, other, what)

    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield compare
    spark.conf.unset("spark.sql.session.timeZone")
    spark.conf.unset("spark.sql.caseSensitive")


def test_unique_keys_are_counted_as_python_counts_them(compared):
    a, b = two_outputs(1, keys=180, most=1)
    found = compared(a, b)
    assert {k: found[k] for k in ("missing", "extra", "different")} == expected(a, b)
    assert found["rows"] == {"a": len(a), "b": len(b)}
    assert found["has_duplicates"] is False
    columns = {c["name"]: c["different"] for c in found["columns"]}
    assert columns == expected_columns(a, b)
    assert all(columns.values()), "each column differs somewhere, or the test can't tell"
    _samples_are_right(found, a, b)


@pytest.mark.parametrize(
    ("a", "b", "counts"),
    [
        ("1, NULL", "1, NULL", (0, 0, 1)),
        ("1, NULL", "1, 'x'", (1, 1, 0)),
        ("NULL, NULL", "NULL, NULL", (0, 0, 1)),
        ("NULL, 'x'", "NULL, NULL", (1, 1, 0)),
    ],
)
def test_null_is_a_key_like_others(compared, spark, a, b, counts):
    text = "SELECT CAST(id AS BIGINT) AS id, CAST(city AS STRING) AS city, amount FROM " + (
        "VALUES ({}, {}), (7, 'y', 3) AS t(id, city, amount)"
    )
    one, other = (spark.sql(text.format(key, n)) for key, n in ((a, 1), (b, 2)))
    found = compared(one, other)
    assert (found["missing"], found["extra"], found["different"]) == counts
    assert found["has_duplicates"] is False


def _samples_are_right(found, a, b):
    left, right = by_key(a), by_key(b)
    assert len(found["samples"]) == 20
    kinds = [s["kind"] for s in found["samples"]]
    assert {k: kinds.count(k) for k in set(kinds)} == {"different": 7, "missing": 7, "extra": 6}
    for sample in found["samples"]:
        key = (sample["key"]["id"], sample["key"]["city"])
        assert (key in left, key in right) == {
            "missing": (True, False), "extra": (False, True), "different": (True, True)
        }[sample["kind"]]  # fmt: skip
        if sample["kind"] != "different":
            side = "a" if sample["kind"] == "missing" else "b"
            assert sample[side] is not None and set(sample[side]) == set(NAMES[2:])
            assert sample["b" if side == "a" else "a"] is None
            continue
        pairs = zip(NAMES[2:], left[key][0], right[key][0], strict=True)
        assert sample["columns"] == [name for name, x, y in pairs if x != y]
        assert set(sample["a"]) == set(sample["b"]) == set(sample["columns"])


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.long)])
def test_rows_of_one_key_are_compared_as_a_multiset(compared, seed):
    a, b = two_outputs(seed, keys=120, most=4)
    found = compared(a, b)
    assert {k: found[k] for k in ("missing", "extra", "different")} == expected(a, b)
    assert found["rows"] == {"a": len(a), "b": len(b)}
    assert found["has_duplicates"] is True


@pytest.mark.long
def test_equal_outputs_have_nothing(compared):
    a, _ = two_outputs(4, keys=100, most=3)
    found = compared(a, a[::-1])
    assert (found["missing"], found["extra"], found["different"]) == (0, 0, 0)
    assert found["samples"] == []


@pytest.mark.long
def test_a_key_with_very_many_rows_does_not_make_the_join_endless(spark, compared):
    # 60,000 rows of one key on each side would be 3,600,000,000 pairs.
    a = spark.range(60_000).selectExpr("1 AS k", "id % 1000 AS n")
    b = spark.range(60_000).selectExpr("1 AS k", "CASE WHEN id < 7 THEN -1 ELSE id % 1000 END AS n")
    found = compared(a, b, keys=("k",))
    assert (found["missing"], found["extra"], found["different"]) == (0, 0, 7)
    assert found["has_duplicates"] is True


def test_a_tolerance_holds_for_numbers_everywhere(spark, compared):
    a = spark.sql(
        "SELECT 1 AS k, 1.0D AS x, 2.00BD AS d, array(1.0D, 2.0D) AS xs, "
        "named_struct('y', 1.0D) AS s, map('m', 1.0D) AS m, 10L AS n, 'a' AS t "
        "UNION ALL SELECT 2, 1.0D, 2.00BD, array(1.0D), named_struct('y', 1.0D), map('m', 1.0D), "
        "10L, 'a'"
    )
    b = spark.sql(
        "SELECT 1 AS k, 1.1D AS x, 2.10BD AS d, array(1.1D, 1.9D) AS xs, "
        "named_struct('y', 1.1D) AS s, map('m', 0.9D) AS m, 10L AS n, 'a' AS t "
        "UNION ALL SELECT 2, 1.3D, 2.11BD, array(1.3D), named_struct('y', 1.3D), map('m', 1.3D), "
        "11L, 'b'"
    )
    found = compared(a, b, keys=("k",), tolerance=0.1000001)
    assert found["different"] == 1
    assert {c["name"]: c["different"] for c in found["columns"]} == {
        "x": 1, "d": 1, "xs": 1, "s": 1, "m": 1, "n": 1, "t": 1
    }  # fmt: skip
    assert compared(a, b, keys=("k",))["different"] == 2
    # With duplicates rows are nearly equal, too: they are paired before they are compared.
    twice = compared(a.union(a), b.union(b), keys=("k",), tolerance=0.1000001)
    assert (twice["missing"], twice["extra"], twice["different"]) == (0, 0, 2)
    exact = compared(
        spark.sql("SELECT 1 AS k, 0.3BD AS d"), spark.sql("SELECT 1 AS k, 0.2BD AS d"),
        keys=("k",), tolerance=0.1,
    )  # fmt: skip
    assert exact["different"] == 0


SAME = [
    ("1", "1.0D", True),
    ("1", "CAST(1 AS BIGINT)", True),
    ("1", "1.00BD", True),
    ("1", "1.01BD", False),
    ("CAST(9007199254740993 AS BIGINT)", "9007199254740992D", False),
    ("CAST(9007199254740992 AS BIGINT)", "9007199254740992D", True),
    ("CAST(0.1 AS FLOAT)", "0.1D", False),
    ("CAST(0.5 AS FLOAT)", "0.5D", True),
    ("0.1BD", "0.1D", True),
    ("CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", True),
    ("CAST('NaN' AS DOUBLE)", "1.0D", False),
    ("CAST('NaN' AS DOUBLE)", "CAST(NULL AS DOUBLE)", False),
    ("-0.0D", "0.0D", True),
    ("'1.50'", "1.5D", True),
    ("'1.0'", "1", True),
    ("'x'", "1", False),
    ("'x'", "CAST(NULL AS INT)", False),
    ("CAST(NULL AS STRING)", "CAST(NULL AS INT)", True),
    ("'true'", "true", True),
    ("'2026-11-25T12:00:00Z'", "TIMESTAMP'2026-11-25 12:00:00'", True),
    ("'2026-11-25T13:00:00+01:00'", "TIMESTAMP'2026-11-25 12:00:00'", True),
    ("DATE'2026-11-25'", "TIMESTAMP'2026-11-25 00:00:00'", True),
    ("TIMESTAMP_NTZ'2026-11-25 12:00:00'", "TIMESTAMP'2026-11-25 12:00:00'", True),
    ("DATE'2026-11-25'", "TIMESTAMP'2026-11-25 00:00:01'", False),
    ("'abc'", "X'616263'", True),
    ("named_struct('a', 1, 'b', 'x')", "named_struct('b', 'x', 'a', 1.0D)", True),
    ("named_struct('a', 1, 'b', 'x')", "named_struct('a', 1)", False),
    ("named_struct('a', 1, 'b', CAST(NULL AS STRING))", "named_struct('a', 1)", True),
    ("array(1, 2)", "array(1.0D, 2.0D)", True),
    ("array(1, 2)", "array(2, 1)", False),
    ("array(1)", "array(1.0D, 2.0D)", False),
    ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", True),
    ("map('a', 1)", "map('a', 2)", False),
    ("map('a', CAST(NULL AS INT))", "map('b', CAST(NULL AS INT))", False),
    ("array(map('a', 1))", "array(map('a', 1.0D))", True),
    ("true", "1", False),
    ("named_struct('a', 1)", "'x'", False),
    ("NULL", "CAST(NULL AS INT)", True),
    ("NULL", "1", False),
]


def test_each_pair_of_types_has_its_meaning(spark, compared):
    from headgate.spark_jobs.data.row_equality import same

    columns = (f"{a} AS a{i}, {b} AS b{i}" for i, (a, b, _) in enumerate(SAME))
    rows = spark.sql(f"SELECT {', '.join(columns)}")
    kinds = {f.name: f.dataType for f in rows.schema}

    def told(one, other):
        return [
            same(rows[f"{one}{i}"], rows[f"{other}{i}"], kinds[f"{one}{i}"], kinds[f"{other}{i}"],
                 0.0)
            for i in range(len(SAME))
        ]  # fmt: skip

    for sides in (("a", "b"), ("b", "a")):
        found = list(rows.select(*(c.alias(f"r{i}") for i, c in enumerate(told(*sides)))).first())
        wrong = [case for case, got in zip(SAME, found, strict=True) if case[2] is not got]
        assert wrong == [], sides


def test_keys_of_other_types_are_joined_by_value(spark, compared):
    a = spark.sql("SELECT 7 AS k, 1 AS v UNION ALL SELECT NULL, 2")
    b = spark.sql("SELECT '7' AS k, 1 AS v UNION ALL SELECT NULL, 3")
    found = compared(a, b, keys=("k",))
    assert (found["missing"], found["extra"], found["different"]) == (0, 0, 1)
    assert [(s["key"], s["a"], s["b"]) for s in found["samples"]] == [
        ({"k": None}, {"v": 2}, {"v": 3})
    ]


def test_a_column_of_one_output_counts_as_null_in_the_other(spark, compared):
    a = spark.sql("SELECT 1 AS k, 1 AS v, 'x' AS `more.or.less`")
    b = spark.sql("SELECT 1 AS k, 1 AS v")
    found = compared(a, b, keys=("k",))
    assert found["columns"] == [
        {"name": "v", "different": 0}, {"name": "more.or.less", "different": 1}
    ]  # fmt: skip
    assert plain(found["samples"][0]["a"]) == plain({"more.or.less": "x"})
