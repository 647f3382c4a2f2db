"""Pipeline `revenue-alerts`: cities whose revenue of ten minutes is above a limit.

`v1` runs. `v2` is what a team would like to deploy next; `v2_safe` and `v2_silent` are parts of it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import DataStreamWriter

from headgate.local.demo.sources import CITY_WINDOW, stream, to_kafka
from headgate.local.demo.topics import CITY_REVENUE, REVENUE_ALERTS


def v1(spark: SparkSession) -> DataStreamWriter:
    """Revenue of ten minutes by city, where it is above 500.00."""
    return alerts(spark, f.sum("revenue_cents"), limit_cents=50_000)


def v2_safe(spark: SparkSession) -> DataStreamWriter:
    """As v1 with a higher limit: resumes."""
    return alerts(spark, f.sum("revenue_cents"), limit_cents=80_000)


def v2_silent(spark: SparkSession) -> DataStreamWriter:
    """As v1, but the best minute in place of the sum: starts, on top of the old sums."""
    return alerts(spark, f.max("revenue_cents"), limit_cents=50_000)


def v2(spark: SparkSession) -> DataStreamWriter:
    """All of that, and by country too: refused, the state is keyed by window and city."""
    return alerts(spark, f.max("revenue_cents"), "country", limit_cents=80_000)


def alerts(
    spark: SparkSession, revenue: Column, *more_keys: str, limit_cents: int
) -> DataStreamWriter:
    """Deduplicate the windows of the topic before, add them up, keep what is above the limit."""
    windows = (
        stream(spark, CITY_REVENUE, CITY_WINDOW, per_trigger=2000)
        .withWatermark("window_start", "5 minutes")
        # The pipeline before may write a window twice: its sink is at-least-once.
        .dropDuplicatesWithinWatermark(["city", "window_start"])
    )
    totals = windows.groupBy(f.window("window_start", "10 minutes"), "city", *more_keys).agg(
        revenue.alias("revenue_cents"), f.sum("orders").alias("orders")
    )
    return to_kafka(_above(totals, limit_cents), REVENUE_ALERTS, key="city", mode="update")


def _above(totals: DataFrame, limit_cents: int) -> DataFrame:
    return totals.where(f.col("revenue_cents") > limit_cents).select(
        "city",
        *(c for c in totals.columns if c not in {"window", "city"}),
        f.col("window.start").alias("window_start"),
        f.col("window.end").alias("window_end"),
    )
