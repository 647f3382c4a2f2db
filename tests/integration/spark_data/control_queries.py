"""Functions over orders for tests of reports, progress and rate limits."""

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
