"""The program that writes a checkpoint's state to Parquet, as a new version can take it.

`transformWithState` takes an initial state: a DataFrame, grouped like its input, of which
`handleInitialState` gets one row at a time. So an operator becomes one folder with one row a key:
the key's columns, then one column for each variable (a value as its struct, a list as an array, a
map as an array of `key` and `value`). Other operators' stores become a folder each, with the key's
columns and `value`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

from headgate.spark_jobs.state_rows import stores
from headgate.spark_jobs.state_session import read_store, run

_ROW = ("key", "partition_id")


def work(spark: Any, wish: dict[str, Any]) -> Any:
    """Return what was written: `folder`, `operator`, `name`, `columns`, `schema`, `rows`.

    `timers_left` is how many timers of a transformWithState are not in it.
    """
    found: dict[int, list[Any]] = {}
    for store, name, options in stores(spark, wish["checkpoint"], int(wish["batch"])):
        found.setdefault(int(store["operatorId"]), []).append((store, name, options))
    return [one for operator in sorted(found) for one in _operator(spark, wish, found[operator])]


def _operator(spark: Any, wish: dict[str, Any], parts: list[Any]) -> Iterator[dict[str, Any]]:
    number = int(parts[0][0]["operatorId"])
    location = (spark, wish["checkpoint"], int(wish["batch"]), number)
    named = f"operator-{number}"
    if any("stateVarName" in options for _, _, options in parts):
        kinds = _kinds(parts[0][0])
        frames = [(n, _variable(read_store(*location, o), kinds.get(n, ""))) for _, n, o in parts]
        written = _write(wish, named, parts[0][0], _joined(frames))
        timers = (
            read_store(*location, {"readRegisteredTimers": "true"}) if _has_time(parts) else None
        )
        yield {**written, "timers_left": timers.count() if timers is not None else 0}
        return
    for store, name, options in parts:
        rows = read_store(*location, options)
        if "value" not in rows.columns:
            rows = rows.drop("partition_id")
        else:
            rows = rows.select(*_key(rows), "value")
        folder = named if len(parts) == 1 else f"{named}-{name}"
        yield _write(wish, folder, store, rows)


def _has_time(parts: list[Any]) -> bool:
    return bool(json.loads(parts[0][0]["operatorProperties"]).get("timeMode") != "NoTime")


def _kinds(store: Any) -> dict[str, str]:
    properties = json.loads(store["operatorProperties"])
    return {v["stateName"]: v["stateVariableType"] for v in properties["stateVariables"]}


def _variable(rows: Any, kind: str) -> Any:
    """Return one row a key: `key` and `held`."""
    from pyspark.sql import functions as F

    columns = [c for c in rows.columns if c not in _ROW]
    if kind == "ListState":
        held = F.collect_list(F.col(columns[0]) if len(columns) == 1 else F.struct(*columns))
        return rows.groupBy("key").agg(held.alias("held"))
    if kind == "MapState":
        pair = F.struct(F.col("user_map_key").alias("key"), F.col("user_map_value").alias("value"))
        return rows.groupBy("key").agg(F.collect_list(pair).alias("held"))
    held = F.col(columns[0]) if len(columns) == 1 else F.struct(*columns)
    return rows.select("key", held.alias("held"))


def _joined(frames: list[tuple[str, Any]]) -> Any:
    """Join the variables by key; a variable named like a key's column gets `_state` behind it."""
    keys = frames[0][1].schema["key"].dataType.names
    named = [
        frame.withColumnRenamed("held", f"{name}_state" if name in keys else name)
        for name, frame in frames
    ]
    both = reduce(lambda left, right: left.join(right, "key", "full_outer"), named)
    return both.select(*_key(both), *[c for c in both.columns if c != "key"])


def _key(rows: Any) -> list[Any]:
    return [rows["key"][name].alias(name) for name in rows.schema["key"].dataType.names]


def _write(wish: dict[str, Any], folder: str, store: Any, rows: Any) -> dict[str, Any]:
    place = Path(wish["folder"]) / folder
    rows.write.parquet(str(place))
    back = rows.sparkSession.read.parquet(str(place))
    return {
        "folder": folder,
        "operator": int(store["operatorId"]),
        "name": str(store["operatorName"]),
        "columns": back.columns,
        "schema": json.loads(back.schema.json()),
        "rows": back.count(),
        "rows_read": rows.count(),
    }


if __name__ == "__main__":
    run(work)
