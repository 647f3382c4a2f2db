"""Functions over orders for tests of reports, progress, rate limits and records that fail."""

import functools
import os
import time

from pyspark.sql import functions as f

SCHEMA = "id long, city string, amount long, at timestamp"


def raw(spark, topic="ORDERS_TOPIC"):
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("subscribe", os.environ[topic])
        .option("startingOffsets", "earliest")
        .option("kafka.isolation.level", "read_committed")
        .load()
    )


def orders(spark):
    value = f.from_json(f.col("value").cast("string"), SCHEMA).alias("v")
    return raw(spark).select(value).select("v.*").withWatermark("at", "10 minutes")


def hourly(spark):
    """Totals by hour and city."""
    rows = orders(spark).groupBy(f.window("at", "1 hour"), "city")
    return rows.agg(f.sum("amount").alias("total"), f.count("*").alias("n")).writeStream


def doubled(spark):
    """As hourly, but each total twice as large."""
    rows = orders(spark).groupBy(f.window("at", "1 hour"), "city")
    return rows.agg(f.sum(f.col("amount") * 2).alias("total"), f.count("*").alias("n")).writeStream


def plain(spark):
    """The orders as they are."""
    return orders(spark).writeStream


def slow(spark):
    """The orders, each after a moment."""

    def wait(order):
        time.sleep(float(os.environ.get("ORDERS_SECONDS", "0.02")))
        return order

    return orders(spark).withColumn("waited", f.udf(wait, "long")("id")).writeStream


def counted(spark):
    """Totals by hour, written in the update mode to nowhere that counts."""
    rows = orders(spark).groupBy(f.window("at", "1 hour")).agg(f.sum("amount").alias("total"))
    rows = rows.select(f.to_json(f.struct("*")).alias("value"))
    return (
        rows.writeStream.outputMode("update")
        .format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("topic", os.environ["TOTALS_TOPIC"])
        .start()
    )


def clocked(spark):
    """The orders as JSON, each with the moment at which it was processed."""
    now = f.udf(lambda _: time.time(), "double")
    rows = orders(spark).withColumn("processed", now("id"))
    return (
        rows.select("at", f.to_json(f.struct("id", "processed")).alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("topic", os.environ["TOTALS_TOPIC"])
        .start()
    )


# The first and the last order of a partition, two next to each other, and others.
FAILING = (0, 7, 8, 10, 499, 700, 1000, 1199)


def strict(order):
    if order in FAILING:
        raise ValueError(f"order {order} is odd")
    return order


def checked(spark):
    """The orders; some raise."""
    return orders(spark).withColumn("checked", f.udf(strict, "long")("id")).writeStream


def checked_hours(spark):
    """Totals by hour as JSON; some orders raise before they are summed up."""
    rows = orders(spark).withColumn("checked", f.udf(strict, "long")("id"))
    rows = rows.groupBy(f.window("at", "1 hour"))
    rows = rows.agg(f.sum("checked").alias("ids"), f.count("*").alias("n"))
    rows = rows.select(f.to_json(f.struct(f.col("window.start").alias("at"), "ids", "n")))
    return (
        rows.toDF("value")
        .writeStream.outputMode("update")
        .format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("topic", os.environ["TOTALS_TOPIC"])
        .start()
    )


def sums(spark):
    """Totals by hour; the sum itself takes what raises."""
    rows = orders(spark).groupBy(f.window("at", "1 hour"))
    return rows.agg(f.sum(f.udf(strict, "long")("id")).alias("ids")).writeStream


def pruned(spark):
    """Orders of which some raise in a column that no result needs."""
    rows = orders(spark).withColumn("checked", f.udf(strict, "long")("id"))
    return rows.dropDuplicates(["id", "at"]).select("id", "city").writeStream


def cast(spark):
    """An error of the engine: a text that is no number."""
    number = f"cast(if(id in {FAILING}, 'x', id) as long)"
    return orders(spark).withColumn("number", f.expr(number)).writeStream


def results(spark):
    """A result raises that no single order makes."""

    def few(count):
        if count > 30:
            raise ValueError("too many")
        return count

    rows = orders(spark).groupBy(f.window("at", "1 hour")).agg(f.count("*").alias("n"))
    return rows.withColumn("few", f.udf(few, "long")("n")).writeStream


def small_results(spark):
    """Some orders raise; and so would a group of one order, which only a search could make."""

    def many(count):
        if count < 2:
            raise ValueError("too few")
        return count

    rows = orders(spark).groupBy(f.window("at", "1 hour"))
    rows = rows.agg(f.sum(f.udf(strict, "long")("id")).alias("ids"), f.count("*").alias("n"))
    return rows.withColumn("many", f.udf(many, "long")("n")).writeStream


def both(spark):
    """The orders beside totals of them: of the two parts, only the first one raises."""
    rows = orders(spark).withColumn("checked", f.udf(strict, "long")("id")).select("id", "checked")
    totals = orders(spark).groupBy("city").agg(f.sum("id").alias("checked"))
    return rows.union(totals.select(f.length("city").cast("long"), "checked")).writeStream


def joined(spark):
    """Orders with themselves, from two reads of the topic."""
    left, right = orders(spark), orders(spark).select(f.col("id").alias("other"), "at")
    return left.join(right.withColumnRenamed("at", "then"), f.expr("id = other")).writeStream


def broken(spark):
    """A function that fails without any record, too."""

    def never():
        raise ImportError("no module")

    class Broken:
        def __reduce__(self):
            return never, ()

    wrong = Broken()
    return orders(spark).withColumn("x", f.udf(lambda _: str(wrong), "string")("id")).writeStream


def single(spark):
    """The orders once each; some raise after that."""
    rows = orders(spark).dropDuplicates(["id"])
    return rows.withColumn("checked", f.udf(strict, "long")("id")).writeStream


def in_company(spark):
    """The orders in batches, which must have two; one raises."""

    def check(batches):
        for batch in batches:
            if len(batch) == 1:
                raise IndexError("one order is no batch")
            batch["id"].map(strict)
            yield batch

    rows = orders(spark).select("id")
    return rows.mapInPandas(check, "id long").writeStream


@functools.cache
def keep(spark):
    return orders(spark)


def kept(spark):
    """Orders of a source that is kept between two calls; some raise."""
    return keep(spark).withColumn("checked", f.udf(strict, "long")("id")).writeStream
