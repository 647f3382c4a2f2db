"""Whether results of a range of time come from records of this range: told from the plan."""

from types import SimpleNamespace

import pytest

from headgate.spark_jobs.data.result_event_time import is_event_time

pytestmark = pytest.mark.spark
SHIFTED = "k, n, ts + interval 1 hour AS ts"


@pytest.fixture(scope="module")
def rows(spark):
    """Rows with the watermark's column `ts`."""
    rows = spark.range(3).selectExpr("string(id) AS k", "id AS n", "timestamp_seconds(id) AS ts")
    rows.createOrReplaceTempView("event_times")
    return rows


def hourly(rows, column="ts", *more):
    from pyspark.sql import functions as f

    return rows.groupBy(f.window(column, "1 hour", *more), "k").count()


def in_json(text):
    return lambda rows: hourly(rows).selectExpr(f"CAST(to_json({text}) AS BINARY) AS value")


def local(rows):
    return rows.selectExpr("k", "from_utc_timestamp(ts, 'Europe/Berlin') AS local")


def in_sql(rows):
    text = "SELECT window.start AS s FROM (SELECT *, window(ts, '1 hour') FROM event_times)"
    return rows.sparkSession.sql(f"{text} GROUP BY window")


SAME = {
    "window": (hourly, "window"),
    "its start": (lambda r: hourly(r).selectExpr("window.start AS s", "count"), "s"),
    "its start, named": (hourly, "window.start"),
    "sliding": (lambda r: hourly(r, "ts", "10 minutes"), "window"),
    "sql": (in_sql, "s"),
    "another name": (lambda r: hourly(r.withColumnRenamed("ts", "at"), "at"), "window"),
    "json": (in_json("named_struct('s', window.start, 'n', count)"), "value.s"),
    "json of the window": (in_json("struct(*)"), "value.window.start"),
    "no aggregation": (lambda r: r.where("n > 0").dropDuplicates(["k"]), "ts"),
    "same type": (lambda r: r.selectExpr("CAST(ts AS timestamp) AS t"), "t"),
}
OTHER = {
    "its end": (lambda r: hourly(r).selectExpr("window.end AS e"), "e"),
    "json of the end": (in_json("struct(*)"), "value.window.end"),
    "json of text": (in_json("struct(date_format(window.start, 'y') AS s)"), "value.s"),
    "local time": (lambda r: hourly(local(r), "local"), "window"),
    "shifted": (lambda r: r.selectExpr(*SHIFTED.split(", ")), "ts"),
    "the last one": (lambda r: r.groupBy("k").agg({"ts": "max"}), "max(ts)"),
    "a part shifted": (lambda r: hourly(r.union(r.selectExpr(*SHIFTED.split(", ")))), "window"),
    "no column": (hourly, "nothing"),
}


@pytest.mark.parametrize("name", [*SAME, *OTHER])
def test_a_time_is_followed_to_the_watermarks_column(rows, name):
    build, column = (SAME | OTHER)[name]
    watermark = SimpleNamespace(rows=rows, column="ts")
    assert is_event_time(build(rows), column, [watermark]) == (name in SAME)


def test_a_watermark_above_a_union_is_not_one_below_it(rows):
    both = rows.union(rows.selectExpr(*SHIFTED.split(", ")))
    watermark = SimpleNamespace(rows=both, column="TS")
    assert is_event_time(hourly(both), "window", [watermark])
    # Spark makes one union of three parts of it, and the watermark's rows are none of its parts.
    more = both.union(both.selectExpr(*SHIFTED.split(", ")))
    assert not is_event_time(more, "ts", [watermark])
