"""Functions over orders that a replay runs as a stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

SCHEMA = "id long, city string, amount long, at timestamp"
DELAY = "2 hours"


def given() -> dict[str, Any]:
    """What the test wants: topic, servers, and how long a batch takes."""
    return json.loads(Path("query.json").read_text())


def orders(spark):
    """The orders of the topic; what the function sets of the source must not matter."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    raw = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", given()["bootstrap"])
        .option("subscribe", given()["topic"])
        .option("startingOffsets", "latest")
        .option("kafka.isolation.level", "read_committed")
        .option("maxOffsetsPerTrigger", given().get("own_limit", 7))
        .load()
    )
    value = f.from_json(f.col("value").cast("string"), SCHEMA).alias("v")
    return raw.select("offset", "partition", value).select("offset", "partition", "v.*")


def hourly(spark, mode="append"):
    """Totals by hour and city."""
    rows = orders(spark).withWatermark("at", DELAY).groupBy(f.window("at", "1 hour"), "city")
    totals = rows.agg(f.sum("amount").alias("total"), f.count("*").alias("orders"))
    return totals.writeStream.outputMode(mode).partitionBy("city").format("json")


def changing(spark):
    """The same, with a row for each change."""
    return hourly(spark, "update")


def whole(spark):
    """The same, with all rows in each batch."""
    return hourly(spark, "complete")


def number(key: tuple[str], frames: Iterator[Any], state: Any) -> Iterator[Any]:
    """Number the orders of a city as they came."""
    rows = pd.concat(list(frames)).sort_values("offset")
    time.sleep(given().get("seconds", 0))
    last = state.get[0] if state.exists else 0
    rows["n"] = range(last + 1, last + 1 + len(rows))
    state.update((last + len(rows),))
    poison = given().get("poison")
    if poison is not None and (rows["id"] == poison).any():
        raise ValueError(f"not an order: {poison}")
    yield rows[["id", "city", "n", "at"]]


def numbered(spark):
    """The running number of each order in its city, which only a stream can give."""
    groups = orders(spark).withWatermark("at", DELAY).groupBy("city")
    rows = groups.applyInPandasWithState(
        number, "id long, city string, n long, at timestamp", "last long", "append",
        GroupStateTimeout.NoTimeout,
    )  # fmt: skip
    return rows.writeStream.outputMode("append").foreachBatch(lambda _rows, _batch: 1 / 0).start()


def numbered_to_topic(spark):
    """The same as records of a topic, by city."""
    rows = orders(spark).withWatermark("at", DELAY).groupBy("city").applyInPandasWithState(
        number, "id long, city string, n long, at timestamp", "last long", "append",
        GroupStateTimeout.NoTimeout,
    )  # fmt: skip
    value = f.to_json(f.struct("id", "city", "n", "at"))
    writer = rows.select(f.col("city").alias("key"), value.alias("value")).writeStream
    return (
        writer.format("kafka")
        .option("kafka.bootstrap.servers", given()["bootstrap"])
        .option("topic", "numbers")
        .outputMode("append")
    )


class Number(StatefulProcessor):
    """Numbers the orders of a city as they came; a value and a list are its state."""

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._last = handle.getValueState("last", "last long")
        self._ids = handle.getListState("ids", "id long")

    def handleInputRows(self, key: tuple[str], rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        time.sleep(given().get("seconds", 0))
        last = self._last.get()[0] if self._last.exists() else 0
        for row in sorted(rows, key=lambda one: one.offset):
            last += 1
            self._ids.appendValue((row.id,))
            yield Row(id=row.id, city=key[0], n=last, at=row.at)
        self._last.update((last,))

    def close(self) -> None:
        pass


def processed(spark):
    """The same running number by a processor, which has several state variables in RocksDB."""
    spark.conf.set(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    groups = orders(spark).withWatermark("at", DELAY).groupBy("city")
    rows = groups.transformWithState(
        Number(), "id long, city string, n long, at timestamp", "Append", "None"
    )
    return rows.writeStream.outputMode("append").format("json")


def once(spark):
    """Each order once, however often it came within two hours."""
    return orders(spark).withWatermark("at", DELAY).dropDuplicatesWithinWatermark(["id"])
