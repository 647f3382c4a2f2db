"""The program that spreads the state of a checkpoint's copy over another number of partitions.

Spark 4.2 does it itself, by an interface that is not public yet: it adds a batch without input
whose state is the old one's. Both batches are then read back, and their rows must be the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headgate.spark_jobs.state_rows import stores
from headgate.spark_jobs.state_session import read_store, run


def work(spark: Any, wish: dict[str, Any]) -> Any:
    """Return a row for each store: `operator`, `store`, `rows`, and whether they are the `same`."""
    manager = getattr(spark, "_streamingCheckpointManager", None)
    if manager is None:
        return {
            "error": "this PySpark can't repartition state",
            "condition": None,
            "step": "Use PySpark 4.2 or later",
        }
    checkpoint, batch = wish["checkpoint"], int(wish["batch"])
    manager.repartition(checkpoint, int(wish["partitions"]), True)
    found = stores(spark, checkpoint, batch)
    parts = [*found, *_timers(found)]
    return [_compared(spark, checkpoint, batch, *one) for one in parts]


def _timers(found: list[Any]) -> Iterator[tuple[Any, str, dict[str, str]]]:
    """Yield what reads the timers of each transformWithState that may have some."""
    with_time = {
        int(store["operatorId"]): store
        for store, _, options in found
        if "stateVarName" in options
        and json.loads(store["operatorProperties"]).get("timeMode") != "NoTime"
    }
    for store in with_time.values():
        yield store, "timers", {"readRegisteredTimers": "true"}


def _compared(
    spark: Any, checkpoint: str, batch: int, store: Any, name: str, options: dict[str, str]
) -> dict[str, Any]:
    operator = int(store["operatorId"])
    before, after = (_rows(spark, checkpoint, b, operator, options) for b in (batch, batch + 1))
    rows = before.count()
    same = rows == after.count() and not before.exceptAll(after).limit(1).count()
    return {"operator": operator, "store": name, "rows": rows, "same": same}


def _rows(spark: Any, checkpoint: str, batch: int, operator: int, options: dict[str, str]) -> Any:
    """Return the rows as JSON: maps can't be compared by Spark, and the partition must differ."""
    from pyspark.sql import functions as F

    found = read_store(spark, checkpoint, batch, operator, options).drop("partition_id")
    return found.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))


if __name__ == "__main__":
    run(work)
