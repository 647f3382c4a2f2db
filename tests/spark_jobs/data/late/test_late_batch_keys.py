"""Which keys late records touch, which of them are duplicates, and which files are rewritten."""

import random
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.late_records import LateRecords
from headgate.spark_jobs.data.late.target_folder import TargetFolder
from headgate.spark_jobs.data.late.touched_keys import (
    SessionKeyError,
    check_keys,
    has_window,
    joins_itself,
    key_bounds,
    key_columns,
    marked,
    same_key,
    touched_keys,
)
from headgate.spark_jobs.data.offset_ranges import OffsetRanges

pytestmark = pytest.mark.spark
START = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = "id long, city string, customer string, amount long, at timestamp"


@pytest.fixture(scope="module")
def orders(spark):
    """Five late orders of two cities and of none; one is of the next hour."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    rows = [
        (1, "a", "x", 5, START),
        (2, "a", "y", 1, START),
        (3, "b", "x", 1, START + timedelta(minutes=70)),
        (4, None, "x", 1, START),
        (4, None, "x", 1, START),
    ]
    yield marked(spark.createDataFrame(rows, ORDER))
    spark.conf.unset("spark.sql.session.timeZone")


def keys_of(rows, *columns):
    names = key_columns(rows, columns)
    check_keys(rows, names)
    return {tuple(row) for row in touched_keys(rows, names).collect()}


def test_a_condition_after_the_aggregation_hides_no_key(orders):
    from pyspark.sql import functions as f

    totals = orders.groupBy("city").agg(f.sum("amount").alias("total"))
    rows = totals.where("total > 1000").select(f.upper("city").alias("CITY"), "total")
    assert rows.count() == 0
    assert keys_of(rows, "city") == {("A",), ("B",), (None,)}


def test_a_condition_before_the_aggregation_leaves_keys_out(orders):
    rows = orders.where("amount > 1").groupBy("city").count()
    assert keys_of(rows, "city") == {("a",)}


def test_windows_are_keys_also_if_only_their_start_is_kept(orders, spark):
    orders.createOrReplaceTempView("orders")
    rows = spark.sql(
        "SELECT window(at, '1 hour').start AS begin, city AS town, count(*) AS n FROM orders"
        " GROUP BY window(at, '1 hour'), city HAVING count(*) > 9"
    )
    found = {(at.replace(tzinfo=None), city) for at, city in keys_of(rows, "begin", "town")}
    first = START.replace(tzinfo=None)
    assert found == {(first, "a"), (first, None), (first + timedelta(hours=1), "b")}


@pytest.mark.long
def test_only_a_window_in_the_key_limits_the_times_that_are_read(orders, spark):
    from types import SimpleNamespace

    from pyspark.sql import functions as f

    from headgate.spark_jobs.data.late.measure_late import Touch
    from headgate.text.times import milliseconds

    hours = orders.groupBy(f.window("at", "1 hour"), "city").count()
    sliding = orders.groupBy(f.window("at", "1 hour", "30 minutes"), "city").count()
    renamed = hours.where("count > 0").withColumnRenamed("window", "hour").alias("x")
    start = sliding.select(f.col("window.start").alias("begin"), "city").orderBy("begin")
    orders.createOrReplaceTempView("orders")
    ends = spark.sql(
        "SELECT window(at, '1 hour').end AS done, city FROM orders GROUP BY window(at, '1 hour'),"
        " city"
    )
    assert has_window(ends, ["done"])
    assert has_window(hours, ["city", "window"])
    assert has_window(renamed, ["hour"])
    assert has_window(start, ["begin"])
    days = hours.withColumn("day", f.date_trunc("day", "window.start"))
    days = days.withColumn("later", f.col("window.start") + f.expr("interval 1 hour"))
    for column in ("city", "day", "later", "count"):
        assert not has_window(days, [column])
    by_day = orders.groupBy(f.date_trunc("day", "at").alias("begin"), "city").count()
    assert not has_window(by_day, ["begin"])

    built = SimpleNamespace(watermarks=[SimpleNamespace(column="at", rows=orders)])
    found = Touch(built, start, ["city"], "begin").facts()
    times = [milliseconds(START), milliseconds(START + timedelta(minutes=70))]
    assert [found["first"], found["last"]] == times
    found = Touch(built, start, ["city"], None).facts()
    assert [found["first"], found["last"]] == [None, None]


def test_a_sample_of_keys_has_no_secrets_and_no_long_values(spark):
    from types import SimpleNamespace

    from headgate.spark_jobs.data.late.measure_late import Touch

    rows = [("password=geheim123", "s3cr3t"), ("x" * 500, None)]
    late = marked(spark.createDataFrame(rows, "city string, token string"))
    totals = late.groupBy("city", "token").count()
    built = SimpleNamespace(watermarks=[])
    sample = Touch(built, totals, ["city", "token"], None).facts()["sample"]
    assert sample == [
        {"city": "password=********", "token": "********"},
        {"city": "x" * 60 + "…", "token": None},
    ]


def test_each_aggregation_must_group_by_the_key(orders):
    from pyspark.sql import functions as f

    inner = orders.groupBy("city", "customer").agg(f.max("amount").alias("most"))
    assert keys_of(inner.groupBy("city").agg(f.sum("most")), "city") == {("a",), ("b",), (None,)}
    with pytest.raises(CaptureError, match="most is the result of an aggregation"):
        keys_of(inner.groupBy("most").count(), "most")
    moving = orders.groupBy("customer").agg(f.max("city").alias("city"))
    with pytest.raises(CaptureError, match="city is the result of an aggregation"):
        keys_of(moving.groupBy("city").count(), "city")
    with pytest.raises(CaptureError, match=r"no column town\. Its columns: customer, city"):
        key_columns(moving, ["town"])


def test_a_session_is_no_key_because_late_records_make_it_longer(orders):
    from pyspark.sql import functions as f

    from headgate.spark_jobs.data.late.measure_late import _time_column

    sessions = orders.groupBy(f.session_window("at", "10 minutes"), "city").count()
    assert keys_of(sessions, "city") == {("a",), ("b",), (None,)}
    assert _time_column(sessions, None) is None
    begins = sessions.select(f.col("session_window.start").alias("begin"), "city")
    with pytest.raises(SessionKeyError, match="begin belongs to a session window"):
        keys_of(begins, "begin", "city")
    hours = orders.groupBy(f.window("at", "1 hour"), "city").count()
    assert _time_column(hours, None) == "window"


def test_a_union_is_followed_into_both_parts(orders):
    from pyspark.sql import functions as f

    other = orders.select(f.lit("c").alias("city"), "amount")
    both = orders.select("city", "amount").union(other)
    assert keys_of(both.groupBy("city").count(), "city") == {("a",), ("b",), (None,), ("c",)}
    most = orders.groupBy("customer").agg(f.max("city").alias("city"), f.sum("amount").alias("n"))
    both = orders.select("city", "amount").union(most.select("city", "n"))
    with pytest.raises(CaptureError, match="city is the result of an aggregation"):
        check_keys(both.groupBy("city").count(), ["city"])


def test_a_deduplication_by_other_columns_is_an_assumption(orders):
    once = orders.dropDuplicates(["id"])
    assert check_keys(once.groupBy("city").count(), ["city"]) == [
        "records with the same id have the same city"
    ]
    once = orders.dropDuplicates(["id", "city"])
    assert check_keys(once.groupBy("city").count(), ["city"]) == []


def test_a_join_after_an_aggregation_and_with_itself_are_seen(orders, spark):
    limits = spark.createDataFrame([("a", 3)], "city string, most long")
    joined = orders.groupBy("city").count().join(limits, "city")
    with pytest.raises(CaptureError, match="the query has a Join after an aggregation"):
        keys_of(joined, "city")
    before = orders.join(limits, "city")
    assert keys_of(before.groupBy("city").count(), "city") == {("a",)}
    assert not joins_itself(before)
    assert joins_itself(orders.join(orders.groupBy("city").count(), "city"))


def test_other_keys_are_left_out_before_the_aggregation(orders, spark):
    from pyspark.sql import functions as f

    both = orders.unionByName(orders.where("id > 1"))
    days = both.groupBy(f.window("at", "1 hour", "30 minutes"), "city").agg(f.sum("amount"))
    keys = touched_keys(days, ["window", "city"]).persist()
    rows = days.join(f.broadcast(keys), same_key(["window", "city"]), "left_semi")
    text = rows._jdf.queryExecution().optimizedPlan().toString()
    assert 0 <= text.index("Aggregate") < text.index("Join LeftSemi")


KAFKA = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"


def record(topic, partition, offset, number, key=None):
    value = b'{"id": %d}' % number if number is not None else b"{}"
    return (key, value, topic, partition, offset, START + timedelta(seconds=offset))


@pytest.fixture(scope="module")
def log(spark):
    """What topics hold: `orders` with two partitions, of which a part is late, and `late`."""
    rnd = random.Random(3)
    rows = [record("orders", p, n, rnd.randrange(40)) for p in range(2) for n in range(20)]
    rows += [record("late", 0, n, rnd.randrange(60)) for n in range(30)]
    rows += [record("late", 0, 30, None), record("late", 0, 31, None)]
    frame = spark.createDataFrame(rows, KAFKA)

    def read(ranges):
        from headgate.spark_jobs.data.late.late_records import _inside

        return frame.where(_inside(ranges))

    return rows, read


ALL = OffsetRanges({"orders": {0: (0, 20), 1: (0, 20)}})
LATE = OffsetRanges({"orders": {1: (15, 20)}, "late": {0: (0, 32)}})


def known_as(identity, rows):
    """Return the late rows without duplicates, in plain Python."""
    own = [r for r in rows if r[2] == "orders" and r[3] == 1 and r[4] >= 15]
    others = [r for r in rows if r[2] == "late"]
    base = [r for r in rows if r[2] == "orders" and r not in own]
    there = {r[1] for r in base} if identity else set()
    kept = []
    for one in sorted(own + others, key=lambda r: (r[5], r[2], r[3], r[4])):
        if identity and one[1] != b"{}":
            if one[1] in there:
                continue
            there.add(one[1])
        kept.append(one)
    return base, kept


@pytest.mark.parametrize("identity", [None, (), ("value.id",)])
@pytest.mark.long
def test_duplicates_are_those_of_plain_python(log, identity):
    rows, read = log
    late = LateRecords(input="orders", offsets=LATE, identity=identity)
    base, kept = known_as(identity, rows)
    everything = late.rows_of(ALL, read).collect()
    places = [(r["partition"], r["offset"], bytes(r["value"])) for r in everything]
    right = [(r[3], r[4], r[1]) for r in base + kept]
    assert sorted(places) == sorted(right)
    assert {r["topic"] for r in everything} == {"orders"}
    late.is_alone = True
    alone = [
        (r["partition"], r["offset"], bytes(r["value"])) for r in late.rows_of(ALL, read).collect()
    ]
    assert sorted(alone) == sorted((r[3], r[4], r[1]) for r in kept)
    counted = late.counted()
    assert (counted["late"], counted["new"]) == (37, len(kept))
    if identity:
        assert counted["repeated"] > 0
        assert counted["in_input"] > 0


@pytest.mark.parametrize("most", [pytest.param(1_000_000, marks=pytest.mark.long), 3])
def test_too_many_ids_are_not_sent_to_every_executor(log, monkeypatch, most):
    rows, read = log
    monkeypatch.setattr("headgate.spark_jobs.data.late.late_records.MOST_SENT", most)
    late = LateRecords(input="orders", offsets=LATE, identity=("value.id",), is_alone=True)
    alone = late.rows_of(ALL, read)
    analyzed = alone._jdf.queryExecution().analyzed().toString()
    assert analyzed.count("strategy=broadcast") == (2 if most > 3 else 0)
    places = sorted((r["partition"], r["offset"], bytes(r["value"])) for r in alone.collect())
    assert places == sorted((r[3], r[4], r[1]) for r in known_as(("value.id",), rows)[1])


@pytest.mark.long
def test_files_say_where_their_records_were(log, tmp_path, spark):
    _, read = log
    frame = spark.createDataFrame(
        [
            (b"k", b"in the input", "orders", 0, 3, START),
            (b"k", b"expired before", "orders", 0, 25, START),
            (b"k", b"twice", "gone", 0, 7, START),
            (b"k", b"twice", "gone", 0, 7, START),
            (b"k", b"nowhere", None, None, None, START),
            (b"k", b"nowhere", None, None, None, START),
        ],
        KAFKA,
    )
    frame.write.parquet(str(tmp_path / "late"))
    nothing = OffsetRanges({})
    late = LateRecords(input="orders", offsets=nothing, files=f"parquet:{tmp_path / 'late'}")
    late.is_alone = True
    found = sorted(bytes(r["value"]) for r in late.rows_of(ALL, read).collect())
    assert found == [b"expired before", b"nowhere", b"nowhere", b"twice"]
    assert late.counted() == {"late": 6, "repeated": 1, "in_input": 1, "new": 4}
    frame.drop("timestamp").write.parquet(str(tmp_path / "wrong"))
    wrong = LateRecords(input="orders", offsets=nothing, files=f"parquet:{tmp_path / 'wrong'}")
    with pytest.raises(CaptureError, match="has no column timestamp"):
        wrong.rows_of(ALL, read)


@pytest.mark.parametrize(
    "missing",
    [
        ("topic", "partition"),
        pytest.param(("topic",), marks=pytest.mark.long),
        pytest.param(("partition",), marks=pytest.mark.long),
    ],
)
def test_an_offset_alone_is_no_place(log, tmp_path, spark, missing):
    _, read = log
    rows = [(b"k", value, "gone", 0, 7, START) for value in (b"one", b"other")]
    frame = spark.createDataFrame(rows, KAFKA).drop(*missing)
    frame.write.parquet(str(tmp_path / "late"))
    nothing = OffsetRanges({})
    late = LateRecords(input="orders", offsets=nothing, files=f"parquet:{tmp_path / 'late'}")
    late.is_alone = True
    found = sorted(bytes(r["value"]) for r in late.rows_of(ALL, read).collect())
    assert found == [b"one", b"other"]


RESULT = "city string, day string, total long"


def touch_of(results, keys, columns):
    near = key_bounds(keys, results.schema, columns)[1]
    return SimpleNamespace(rows=results, columns=columns, near=near, sent=lambda: keys)


# 02:30 is there twice on that day in Berlin.
MOMENTS = [f"TIMESTAMP'2026-10-25 0{h}:{m}:00Z'" for h in (0, 1) for m in ("29", "30", "59")]
WINDOW = "struct<start:timestamp,end:timestamp>"
VALUES = {
    "bigint": ("-3", "0", "7", "NULL"),
    "decimal(10,2)": ("-1.50", "0.05", "9.99", "NULL"),
    "string": ("''", "'Z'", "'a'", "'ä'", "'\U0001f600'", "NULL"),
    "date": ("DATE'1582-10-04'", "DATE'2026-02-28'", "DATE'+12000-01-01'", "NULL"),
    "timestamp": (*MOMENTS, "TIMESTAMP'1582-10-04 12:00:00Z'", "NULL"),
    "timestamp_ntz": ("TIMESTAMP_NTZ'2026-10-25 02:30:00'", "TIMESTAMP_NTZ'1899-12-31'", "NULL"),
    "double": ("-1.0D", "0.0D", "-0.0D", "DOUBLE('NaN')", "DOUBLE('Infinity')", "NULL"),
    "boolean": ("TRUE", "FALSE", "NULL"),
    WINDOW: (
        *(f"named_struct('start', {m}, 'end', {m} + INTERVAL 1 MINUTE)" for m in MOMENTS),
        "NULL",
    ),
}


RARE = [pytest.param("orc", k, marks=pytest.mark.long) for k in VALUES if k != WINDOW]


@pytest.mark.parametrize(
    ("format", "kind"), [*(("parquet", k) for k in VALUES), ("orc", WINDOW), *RARE]
)
def test_the_bounds_of_keys_leave_out_no_row_with_a_key(spark, tmp_path, kind, format):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        rows = spark.sql(" UNION ALL ".join(
            f"SELECT CAST({v} AS {kind}) AS k, {n}L AS total" for n, v in enumerate(VALUES[kind])
        ))  # fmt: skip
        rows.repartition(3, "total").write.format(format).save(str(tmp_path / "old"))
        target = TargetFolder(format, tmp_path / "old")
        for some in (1, 3):
            results = rows.where(f"total % {some} = 0")
            keys = touched_keys(results, ["k"]).persist()
            touch = touch_of(results, keys, ["k"])
            wanted = rows.join(keys, same_key(["k"]), "left_semi").count()
            assert sum(target.touched(touch).values()) == wanted
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_files_without_touched_days_are_not_read(spark, tmp_path):
    days = spark.range(3000).selectExpr(
        "named_struct('start', timestamp_seconds(id DIV 100 * 86400)) AS day", "id AS total"
    )
    days.repartitionByRange(10, "day").write.parquet(str(tmp_path / "old"))
    results = days.where("total BETWEEN 1000 AND 1150")
    keys = touched_keys(results, ["day"]).persist()
    pairs, near = key_bounds(keys, results.schema, ["day"])
    assert pairs == 2
    rows = TargetFolder("parquet", tmp_path / "old").rows(results)
    assert rows.where(near).count() == 200
    scan = rows.where(near)._jdf.queryExecution().executedPlan().toString()
    assert "PushedFilters: [IsNotNull(day.start)" in scan, scan


def test_only_touched_partitions_are_rewritten(spark, tmp_path):
    old = [(c, f"{d:02}", d) for c in ("a", "b c", "7") for d in range(1, 4)]
    # To Spark's readers, brackets are a pattern of paths.
    folder, new = tmp_path / "[a,b] {x}" / "totals", tmp_path / "[a,b] {x}" / "new"
    spark.createDataFrame(old, RESULT).coalesce(1).write.partitionBy("city").parquet(str(folder))
    results = spark.createDataFrame([("b c", "02", 50), ("d", "09", 60)], RESULT)
    target = TargetFolder("parquet", folder)
    target.check(results)
    keys = touched_keys(results, ["city", "day"]).persist()
    files = target.touched(touch_of(results, keys, ["city", "day"]))
    assert list(files.values()) == [1]
    others = target.rows(results, sorted(files))
    others = others.join(keys, same_key(["city", "day"]), "left_anti")
    assert target.write(others.unionByName(results), new, files) == 2
    rows = {(r.city, r.day): r.total for r in TargetFolder("parquet", new).rows(results).collect()}
    assert rows == {(c, d): t for c, d, t in old} | {("b c", "02"): 50, ("d", "09"): 60}
    inodes = {p.stat().st_ino for p in target.files()}
    linked = {
        p.parent.name for p in TargetFolder("parquet", new).files() if p.stat().st_ino in inodes
    }
    assert linked == {"city=a", "city=7"}
    assert (new / "_SUCCESS").is_file()


def test_results_that_do_not_fit_the_folder_are_an_error(spark, tmp_path):
    spark.createDataFrame([("a", "1", 5)], RESULT).write.parquet(str(tmp_path / "totals"))
    target = TargetFolder("parquet", tmp_path / "totals")
    other = spark.createDataFrame([("a", "1", 5.0)], "city string, day string, total double")
    with pytest.raises(CaptureError, match=r"column total of .* is bigint, but .* have double"):
        target.check(other)
    with pytest.raises(CaptureError, match="has the columns city, day, total, but"):
        target.check(other.drop("day"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(CaptureError, match="has no files"):
        TargetFolder("parquet", tmp_path / "empty").check(other)


@pytest.mark.parametrize("kind", ["parquet", pytest.param("orc", marks=pytest.mark.long)])
def test_a_column_of_only_one_file_is_not_lost(spark, tmp_path, kind):
    new = spark.createDataFrame([("a", "1", 5)], RESULT)
    older = spark.createDataFrame([("b", "1", 5, "x")], f"{RESULT}, note string")
    (tmp_path / "totals").mkdir()
    for name, rows in (("a", new), ("m", older), ("z", new)):
        rows.coalesce(1).write.format(kind).save(str(tmp_path / name))
        (part,) = (tmp_path / name).glob("part-*")
        part.rename(tmp_path / "totals" / f"{name}.{kind}")
    with pytest.raises(CaptureError, match="has the columns city, day, total, note, but"):
        TargetFolder(kind, tmp_path / "totals").check(new)


def test_a_json_value_of_another_type_is_not_rewritten_as_null(spark, tmp_path):
    from py4j.protocol import Py4JJavaError

    folder = tmp_path / "totals"
    folder.mkdir()
    lines = ('{"city": "a", "day": "1", "total": 5}', '{"city": "b", "day": "1", "total": 12.5}')
    (folder / "a.json").write_text("\n".join(lines))
    results = spark.createDataFrame([("a", "1", 6)], RESULT)
    target = TargetFolder("json", folder)
    target.check(results)
    with pytest.raises(Py4JJavaError, match=r"CANNOT_PARSE_JSON_FIELD.* the value 12\.5"):
        target.rows(results, [str(folder / "a.json")]).collect()
    whole = spark.createDataFrame([("a", "1", 6.0)], "city string, day string, total double")
    assert {r.total for r in target.rows(whole).collect()} == {5.0, 12.5}
