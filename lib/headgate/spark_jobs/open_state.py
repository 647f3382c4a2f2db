"""The program that counts what a checkpoint's stores hold, and finds their event times.

Spark keeps the mark of an event-time column (`spark.watermarkDelayMs`) in the schema of the state,
so no name is guessed. Nothing is written to the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.spark_jobs.state_rows import stores
from headgate.spark_jobs.state_session import read_store, run

_EVENT_TIME, _WINDOW = "spark.watermarkDelayMs", "spark.timeWindow"
# Of a join: the number of rows of each key, and an index of the rows by time.
_BESIDE = ("keyToNumValues", "tsWithKey")


def work(spark: Any, wish: dict[str, Any]) -> Any:
    """Return a row for each store; see `model.open_state.OpenStore`."""
    checkpoint, batch = wish["checkpoint"], int(wish["batch"])
    return [
        {
            "operator": int(store["operatorId"]),
            "name": str(store["operatorName"]),
            "store": name,
            **_counted(read_store(spark, checkpoint, batch, int(store["operatorId"]), options)),
        }
        for store, name, options in stores(spark, checkpoint, batch)
        if not name.endswith(_BESIDE)
    ]


def _counted(rows: Any) -> dict[str, Any]:
    from pyspark.sql import functions as F

    marked = list(_marked(rows.schema, ()))
    firsts, lasts = (list(_ends(marked, end)) for end in (0, -1))
    matched = [f.name for f in _fields(rows.schema, "value") if f.name == "matched"]
    found = rows.agg(
        F.count(F.lit(1)).alias("rows"),
        _milliseconds(F.min, firsts).alias("first_ms"),
        _milliseconds(F.max, lasts).alias("last_ms"),
        (F.count_if(~F.col("value.matched")) if matched else F.lit(None)).alias("unmatched"),
    ).first()
    windowed = any(_WINDOW in (field.metadata or {}) for _, field in marked)
    return {**found.asDict(), "windowed": windowed}


def _marked(struct: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the event-time columns, however deep, with their paths."""
    for field in struct.fields:
        here = (*path, field.name)
        if _EVENT_TIME in (field.metadata or {}):
            yield here, field
        elif hasattr(field.dataType, "fields"):
            yield from _marked(field.dataType, here)


def _ends(marked: list[Any], end: int) -> Iterator[str]:
    """Yield the path of each column; of a window its start (0) or its end (-1)."""
    for path, field in marked:
        inside = getattr(field.dataType, "fields", None)
        parts = (*path, inside[end].name) if inside else path
        yield ".".join(f"`{part}`" for part in parts)


def _fields(struct: Any, name: str) -> list[Any]:
    found = next((f for f in struct.fields if f.name == name), None)
    return getattr(found.dataType, "fields", []) if found is not None else []


def _milliseconds(aggregate: Any, columns: list[str]) -> Any:
    from pyspark.sql import functions as F

    if not columns:
        return F.lit(None)
    found = [aggregate(F.col(column).cast("timestamp")) for column in columns]
    outer = F.least if aggregate is F.min else F.greatest
    return F.unix_millis(outer(*found) if len(found) > 1 else found[0])


if __name__ == "__main__":
    run(work)
