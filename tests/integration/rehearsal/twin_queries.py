"""Versions of one query for twin runs: each function is one, named by what it changes."""

import contextlib
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from pyspark.sql import functions as F

SCHEMA = "k string, v int, w int, note string, at timestamp"


def _orders(spark):
    return spark.readStream.schema(SCHEMA).option("multiLine", "true").json("/data/orders")


def _sums(spark, *functions, rows=None, key="k"):
    counted = (rows or _orders(spark)).where("note <> 'test'").groupBy(key).agg(*functions)
    return counted.writeStream.outputMode("update").foreachBatch(_never)


def _never(_df, _batch):
    raise AssertionError("a twin run called foreachBatch")


def base(spark):
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"))


def renamed(spark):
    return _sums(spark, F.sum("v").alias("x"), F.sum("w").alias("y"))


def swapped(spark):
    return _sums(spark, F.sum("w").alias("a"), F.sum("v").alias("b"))


def counted(spark):
    return _sums(spark, F.sum("v").alias("a"), F.count("*").alias("b"), F.sum("w").alias("c"))


def other_key(spark):
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), key="note")


def other_path(spark):
    rows = spark.readStream.schema(SCHEMA).json("/data/orders-2")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=rows)


def _hourly(spark, step):
    """Three keys an hour: the watermark leaves the keys of an hour or two in state."""
    hour, step = F.window("at", "1 hour"), step.alias("step")
    rows = _orders(spark).withWatermark("at", "10 minutes")
    return (
        rows.groupBy(hour, step)
        .agg(F.sum("v").alias("a"), F.count("*").alias("n"))
        .writeStream.outputMode("update")
        .foreachBatch(_never)
    )


def hourly(spark):
    return _hourly(spark, F.abs(F.hash("k")) % 3)


def hourly_otherwise(spark):
    return _hourly(spark, F.abs(F.hash("k") % 3))


def hourly_by_pmod(spark):
    return _hourly(spark, F.pmod(F.hash("k"), F.lit(3)))


def joined(spark):
    names = spark.read.schema("note string, name string").json("/data/names")
    return _sums(
        spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=_orders(spark).join(names, "note")
    )


def of_subqueries(spark):
    limits = spark.read.schema("note string, most int").json("/data/limits")
    limits.createOrReplaceTempView("limits")
    _orders(spark).createOrReplaceTempView("orders")
    rows = spark.sql(
        "SELECT * FROM orders WHERE note IN (SELECT note FROM limits) "
        "AND v < (SELECT max(most) FROM limits)"
    )
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=rows)


def from_kafka(spark, topic="orders", names=("a", "b")):
    raw = (
        spark.readStream.format("kafka")
        .option("subscribe", topic)
        .option("kafka.bootstrap.servers", "127.0.0.1:1")
        .load()
    )
    value = F.from_json(F.col("value").cast("string"), SCHEMA).alias("j")
    rows = raw.select(value).select("j.*")
    return _sums(spark, F.sum("v").alias(names[0]), F.sum("w").alias(names[1]), rows=rows)


def from_kafka_renamed(spark):
    return from_kafka(spark, names=("x", "y"))


def from_other_topic(spark):
    return from_kafka(spark, "orders-2")


def by_function(spark, name="a"):
    price = F.udf(lambda note, v: 3 * v if note == "gold" and v is not None else v, "int")
    return _sums(spark, F.sum(price("note", "v")).alias(name), F.sum("w").alias("b"))


def by_function_renamed(spark):
    return by_function(spark, name="x")


def by_other_function(spark):
    price = F.udf(lambda note, v: 5 * v if note == "gold" and v is not None else v, "int")
    return _sums(spark, F.sum(price("note", "v")).alias("a"), F.sum("w").alias("b"))


def raises(spark):
    raise ValueError("no such tenant")


def of_table(spark):
    return _sums(spark, F.sum("v").alias("a"), rows=spark.readStream.table("orders"))


def without_schema(spark):
    return spark.readStream.json("/data/orders").writeStream.format("console")


def fails_on_rows(spark):
    broken = F.udf(lambda v: 1 // 0, "int")
    return _sums(spark, F.sum(broken("v")).alias("a"), F.sum("w").alias("b"))


def by_chance(spark):
    rows = _orders(spark).where(F.rand() < 0.5)
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=rows)


def written_otherwise(spark):
    kept = _orders(spark).where("NOT note = 'test'").select("k", "v", "w")
    counted = kept.groupBy("k").agg(F.sum("v").alias("a"), F.sum("w").alias("b"))
    return counted.writeStream.outputMode("update").foreachBatch(_never)


def other_filter(spark):
    rows = _orders(spark).where("v > 20")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=rows)


def unreached(spark):
    rows = _orders(spark).where("length(k) > 100")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), rows=rows)


def _distinct(spark, *functions):
    rows = _orders(spark).withWatermark("at", "1 hour").dropDuplicatesWithinWatermark(["note"])
    return _sums(spark, *functions, rows=rows)


def distinct(spark):
    return _distinct(spark, F.sum("v").alias("a"), F.sum("w").alias("b"))


def distinct_swapped(spark):
    return _distinct(spark, F.sum("w").alias("a"), F.sum("v").alias("b"))


def _pairs(spark, *columns):
    left = _orders(spark).select("k", *columns, "at").withWatermark("at", "1 hour")
    right = spark.readStream.schema("rk string, rat timestamp").json("/data/refunds")
    right = right.withWatermark("rat", "1 hour")
    within = F.expr("k = rk AND rat BETWEEN at AND at + INTERVAL 1 HOUR")
    return left.join(right, within).writeStream.outputMode("append").foreachBatch(_never)


def pairs(spark):
    return _pairs(spark, F.col("v").alias("x"), F.col("w").alias("y"))


def pairs_swapped(spark):
    return _pairs(spark, F.col("w").alias("x"), F.col("v").alias("y"))


def fixed_price(spark):
    return _sums(spark, F.sum(F.col("v") * 100).alias("a"), F.sum("w").alias("b"))


def keyed(spark):
    colour = F.when(F.col("note") == "gold", "yellow").when(F.col("note") == "ruby", "red")
    key = F.concat_ws("-", "k", colour.otherwise("other")).alias("key")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), key=key)


def keyed_otherwise(spark):
    colours = F.create_map(F.lit("gold"), F.lit("yellow"), F.lit("ruby"), F.lit("red"))
    colour = F.coalesce(colours[F.col("note")], F.lit("other"))
    key = F.concat_ws("-", "k", colour).alias("key")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), key=key)


def upper_key(spark, upper=F.upper):
    key = upper("note").alias("key")
    return _sums(spark, F.sum("v").alias("a"), F.sum("w").alias("b"), key=key)


def upper_key_by_function(spark):
    return upper_key(spark, F.udf(lambda note: None if note is None else note.upper(), "string"))


def connects(spark):
    socket.create_connection(("localhost", 9), timeout=1)
    return base(spark)


def connects_if_it_can(spark):
    with contextlib.suppress(OSError):
        socket.create_connection(("192.0.2.1", 5432), timeout=1)
    return base(spark)


def writes_a_file(spark):
    Path(__file__).with_name("written-by-a-twin").write_text("x")
    return base(spark)


def writes_a_batch(spark):
    spark.sql("INSERT OVERWRITE DIRECTORY '/data/written' USING json SELECT 1 AS n")
    return base(spark)


def writes_an_rdd(spark):
    written = Path(__file__).with_name("written-by-a-twin")
    spark.sparkContext.parallelize([1]).saveAsTextFile(str(written))
    return base(spark)


def makes_a_folder_in_java(spark):
    folder = spark._jvm.org.apache.hadoop.fs.Path(
        str(Path(__file__).with_name("written-by-a-twin"))
    )
    files = folder.getFileSystem(spark._jsc.hadoopConfiguration())
    files.exists(folder) or files.mkdirs(folder)
    return base(spark)


def writes_a_frame_in_java(spark):
    path = str(Path(__file__).with_name("written-by-a-twin"))
    spark.range(3)._jdf.write().json(path)
    return base(spark)


def writes_later(spark):
    """The function has returned long before; folders for checkpoints of batches aren't its own."""
    spark.sparkContext.setCheckpointDir(str(Path(__file__).with_name("written-by-a-twin")))
    late = Path(__file__).with_name("written-by-a-twin") / "late"

    def work():
        time.sleep(1)
        late.parent.mkdir(exist_ok=True)
        late.write_text("x")

    threading.Thread(target=work, daemon=True).start()
    return base(spark)


def asks(spark):
    return _sums(spark, F.sum("v").alias(input("Which name? ")))


def makes_tables(spark):
    """As a function may that is called once in a process."""
    spark.sql("CREATE DATABASE shop")
    spark.sql("CREATE TABLE shop.names (note string, name string) USING parquet")
    spark.sql("CREATE TABLE limits (note string) USING parquet")
    spark.sql("CREATE VIEW named AS SELECT note FROM shop.names")
    spark.sql("CREATE TEMPORARY VIEW one AS SELECT 1 AS n")
    spark.range(3).createTempView("three")
    spark.range(3).createGlobalTempView("everywhere")
    return base(spark)


def starts_a_program(spark):
    subprocess.run(["touch", "written-by-a-twin"], check=True)
    return base(spark)


def writes_a_database(spark):
    sqlite3.connect("written-by-a-twin").execute("create table t (n int)")
    return base(spark)


def listens(spark):
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
    return base(spark)


def _with_function(spark, work):
    checked = F.udf(work, "int")
    return _sums(spark, F.sum(checked("v")).alias("a"), F.sum("w").alias("b"))


def writes_for_each_row(spark):
    def work(v):
        Path("written-by-a-twin").write_text(str(v))
        return v

    return _with_function(spark, work)


def connects_for_each_row(spark):
    def work(v):
        socket.create_connection(("192.0.2.1", 5432), timeout=1)
        return v

    return _with_function(spark, work)


def starts_a_program_for_each_row(spark):
    return _with_function(spark, lambda v: subprocess.call(["true"]) + (v or 0))


def needs_memory_for_each_row(spark):
    return _with_function(spark, lambda v: len(bytearray(16 << 30)) and v)


def returns_rows(spark):
    spark.createDataFrame([(1, "a")], "n int, k string").toPandas()
    return base(spark)


def _two_ports(spark, policy):
    spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", policy)
    near = _orders(spark).withWatermark("at", "1 minute")
    far = spark.readStream.schema(SCHEMA).json("/data/far").withWatermark("at", "30 days")
    hours = near.union(far).groupBy(F.window("at", "1 hour")).agg(F.count("*").alias("n"))
    return hours.writeStream.outputMode("append").foreachBatch(_never)


def slower_port(spark):
    return _two_ports(spark, "min")


def faster_port(spark):
    return _two_ports(spark, "max")
