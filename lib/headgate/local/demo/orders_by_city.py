"""Pipeline `orders-by-city`: paid orders, enriched with their customers, in windows by city.

`v1` runs. `v2` is what a team would like to deploy next; `v2_safe` and `v2_silent` are parts of it.
`v2_swapped` only lists the measures in another order. `v2_faster` has the results of `v1`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter

from headgate.local.demo.sources import CUSTOMER, ORDER, PAYMENT, latest, stream, to_kafka
from headgate.local.demo.topics import CITY_REVENUE, CUSTOMERS, ORDERS, PAYMENTS


def v1(spark: SparkSession) -> DataStreamWriter:
    """Orders and revenue of each minute and city."""
    paid = paid_orders(spark, least_cents=100, per_trigger=2000)
    return by_city(paid, "1 minute", orders_and_revenue())


def v2_safe(spark: SparkSession) -> DataStreamWriter:
    """As v1, without the smallest orders and reading faster: resumes."""
    paid = paid_orders(spark, least_cents=500, per_trigger=5000)
    return by_city(paid, "1 minute", orders_and_revenue())


def v2_faster(spark: SparkSession) -> DataStreamWriter:
    """As v1, reading faster: the same results."""
    paid = paid_orders(spark, least_cents=100, per_trigger=5000)
    return by_city(paid, "1 minute", orders_and_revenue())


def v2_silent(spark: SparkSession) -> DataStreamWriter:
    """As v1, in windows of five minutes: starts, and mixes windows of both sizes."""
    paid = paid_orders(spark, least_cents=100, per_trigger=2000)
    return by_city(paid, "5 minutes", orders_and_revenue())


def v2(spark: SparkSession) -> DataStreamWriter:
    """All of that, and the largest order of each window: the state has no column for it."""
    paid = paid_orders(spark, least_cents=500, per_trigger=5000)
    largest = f.max("amount_cents").alias("largest_cents")
    return by_city(paid, "5 minutes", [*orders_and_revenue(), largest])


def v2_swapped(spark: SparkSession) -> DataStreamWriter:
    """As v1, with the revenue first: starts, and reads each stored measure as the other one."""
    paid = paid_orders(spark, least_cents=100, per_trigger=2000)
    return by_city(paid, "1 minute", orders_and_revenue()[::-1])


def paid_orders(spark: SparkSession, *, least_cents: int, per_trigger: int) -> DataFrame:
    """Return orders with their customer's city, once they are paid within two minutes."""
    customers = latest(spark, CUSTOMERS, CUSTOMER, key="customer_id")
    orders = (
        stream(spark, ORDERS, ORDER, per_trigger=per_trigger)
        .where((f.col("status") != "cancelled") & (f.col("amount_cents") >= least_cents))
        .withWatermark("ordered_at", "1 minute")
        .join(f.broadcast(customers), "customer_id")
        .alias("o")
    )
    payments = (
        stream(spark, PAYMENTS, PAYMENT, per_trigger=per_trigger)
        .select("order_id", "paid_at")
        .withWatermark("paid_at", "1 minute")
        .alias("p")
    )
    in_time = f.expr("p.paid_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL 2 MINUTES")
    matches = (f.col("o.order_id") == f.col("p.order_id")) & in_time
    return orders.join(payments, matches).select("o.*")


def orders_and_revenue() -> list[Column]:
    """Return the two measures of a window; Spark stores both as the same type."""
    return [f.sum(f.lit(1)).alias("orders"), f.sum("amount_cents").alias("revenue_cents")]


def by_city(paid: DataFrame, size: str, measures: list[Column]) -> DataStreamWriter:
    """Aggregate by window and city; append mode, as Spark requires after a stream-stream join."""
    windows = paid.groupBy(f.window("ordered_at", size), "city", "country").agg(*measures)
    rows = windows.select(
        "city",
        "country",
        f.col("window.start").alias("window_start"),
        f.col("window.end").alias("window_end"),
        *(c for c in windows.columns if c not in {"window", "city", "country"}),
    )
    return to_kafka(rows, CITY_REVENUE, key="city", mode="append")
