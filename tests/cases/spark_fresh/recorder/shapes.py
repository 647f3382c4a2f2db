"""Short ways to write the queries of definitions; every expression is SQL text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from recorder.case import Build, Place

Keys = str | Sequence[str]


def _all(found: Keys) -> list[Any]:
    return [F.expr(k) for k in ([found] if isinstance(found, str) else found)]


def grouped(df: DataFrame, keys: Keys, *measures: str) -> DataFrame:
    """Return a grouped aggregation; keys and measures are expressions with their names."""
    return df.groupBy(*_all(keys)).agg(*_all(measures))


def by(keys: Keys, *measures: str) -> Build:
    """Aggregate the events as they come."""
    return lambda p: grouped(p.read(), keys, *measures)


def over(*columns: str, where: str | None = None, then: Build | None = None) -> Any:
    """Return the events with other columns (and rows), for `Frame` builders."""

    def frame(p: Place) -> DataFrame:
        df = p.read()
        df = df.where(where) if where else df
        return df.selectExpr(*columns) if columns else df

    return frame


def sql(text: str, *, delay: str | None = None) -> Build:
    """Return what a statement over the view `events` gives."""

    def build(p: Place) -> DataFrame:
        df = p.marked(delay=delay) if delay else p.read()
        df.createOrReplaceTempView("events")
        return p.spark.sql(text)

    return build


def windowed(
    window: str, keys: Keys, *measures: str, delay: str = "10 seconds", before: str | None = None
) -> Build:
    """Aggregate by a window (an expression over `ts`) and keys, behind a watermark."""
    more = [keys] if isinstance(keys, str) else list(keys)

    def build(p: Place) -> DataFrame:
        df = p.read().where(before) if before else p.read()
        return grouped(df.withWatermark("ts", delay), [window, *more], *measures)

    return build
