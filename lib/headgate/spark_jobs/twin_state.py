"""Every row of every store of a checkpoint, as Spark's own state reader gives it."""

from __future__ import annotations

from typing import Any

from headgate.spark_jobs.engine_error import stop_cause
from headgate.spark_jobs.state_rows import reader, stores

_JOIN = "symmetricHashJoin"


def read_stores(spark: Any, checkpoint: str, batch: int | None, most: int) -> list[dict[str, Any]]:
    """Return `{"operator_id", "operator", "store", "columns", "rows", "error"}` for each store.

    `columns` has the names of the key's and the value's columns, `rows` pairs of both in that
    order, at most `most`. A side of a join is one store. `error` says why a store can't be read.
    """
    try:
        found = stores(spark, checkpoint, batch)
    except Exception:  # the query has no state
        return []
    read, sides = [], set()
    for store, name, options in found:
        operator = int(store["operatorId"])
        if str(store["operatorName"]) == _JOIN:
            if operator in sides:
                continue
            sides.add(operator)
            parts = [(side, {"joinSide": side}) for side in ("left", "right")]
        else:
            parts = [(name, options)]
        for part, how in parts:
            about = {"operator_id": operator, "operator": str(store["operatorName"]), "store": part}
            read.append(about | _read(spark, checkpoint, batch, operator, how, most))
    return read


def _read(
    spark: Any, checkpoint: str, batch: int | None, operator: int, how: dict[str, str], most: int
) -> dict[str, Any]:
    from pyspark.sql import DataFrame

    from headgate.spark_jobs.twin_version import plain

    asked = reader(spark, "statestore").option("operatorId", str(operator))
    if batch is not None:
        asked = asked.option("batchId", str(batch))
    for name, value in how.items():
        asked = asked.option(name, value)
    try:
        frame = DataFrame(asked.load(checkpoint), spark)
        value = next(c for c in frame.columns if c not in ("key", "partition_id"))
        fields = {f.name: f.dataType for f in frame.schema.fields}
        rows = [[plain(r["key"]), plain(r[value])] for r in frame.limit(most).collect()]
    except Exception as error:
        return {"columns": None, "rows": [], "error": stop_cause(error).message[:300]}
    columns = [getattr(fields[part], "names", [part]) for part in ("key", value)]
    return {"columns": columns, "rows": rows, "error": None}
