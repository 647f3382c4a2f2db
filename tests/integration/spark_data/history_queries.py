"""Functions over orders: hourly totals, sliding totals into JSON, and a plain filter."""

import os

from pyspark.sql import functions as f

SCHEMA = "id long, city string, amount long, at timestamp"


def orders(spark):
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("subscribe", os.environ["ORDERS_TOPIC"])
        .option("startingOffsets", "latest")
        .option("kafka.isolation.level", "read_committed")
        .option("maxOffsetsPerTrigger", 500)
        .load()
    )
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    value = f.from_json(f.col("value").cast("string"), SCHEMA).alias("v")
    return raw.select(value).select("v.*")


def hourly(spark):
    """Totals by hour and city: the result has its window."""
    totals = (
        orders(spark).withWatermark("at", "10 minutes").groupBy(f.window("at", "1 hour"), "city")
    )
    return totals.agg(f.sum("amount").alias("total"), f.count("*").alias("orders")).writeStream


def sliding(spark):
    """Totals of sliding hours, as JSON for a topic."""
    window = f.window("at", "1 hour", "15 minutes")
    totals = orders(spark).withWatermark("at", "10 minutes").groupBy(window, "city")
    rows = totals.agg(f.sum("amount").alias("total")).select(
        "city", f.col("window.start").alias("start"), "total"
    )
    return (
        rows.select(f.col("city").alias("key"), f.to_json(f.struct("*")).alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ORDERS_BROKER"])
        .option("topic", "totals")
        .start()
    )


def large(spark):
    """The large orders, which keep their event time."""
    return orders(spark).withWatermark("at", "1 minute").where("amount > 50")


def failing(spark):
    """As hourly, but for the order 700 of the month it raises."""
    check = f.udf(lambda order: 1 // (order - 700), "long")
    rows = orders(spark).withColumn("checked", check("id")).withWatermark("at", "10 minutes")
    return rows.groupBy(f.window("at", "1 hour")).agg(f.sum("checked").alias("n")).writeStream
