"""How many rows each state store holds at a batch, as Spark's own state reader counts them."""

from __future__ import annotations

import json
from typing import Any

# A reading starts a task for each partition of each store.
_MOST_TASKS = 2000
_COUNTS = "keyToNumValues"  # of a join's stores: one row a key, beside the rows themselves


def state_rows(spark: Any, checkpoint: str, batch: int | None) -> list[dict[str, Any]]:
    """Return `{"operator_id", "operator", "store", "rows"}` for each store; none if there are none.

    `rows` is None if Spark's state reader (Spark 4.0 and newer) can't read that store.
    """
    if batch is None:
        return []
    try:
        parts = stores(spark, checkpoint)
    except Exception:  # an older Spark, or no state at all
        return []
    tasks = {(s["operatorId"], s["stateStoreName"]): s.get("numPartitions", 1) for s, _, _ in parts}
    many = sum(map(int, tasks.values())) > _MOST_TASKS
    return [
        {
            "operator_id": int(store["operatorId"]),
            "operator": str(store["operatorName"]),
            "store": name,
            "rows": None if many else _count(spark, checkpoint, batch, store, options),
        }
        for store, name, options in parts
        if not name.endswith(_COUNTS)
    ]


def stores(
    spark: Any, checkpoint: str, batch: int | None = None
) -> list[tuple[dict[str, Any], str, dict[str, str]]]:
    """Return a row of `state-metadata`, a name and the state reader's options for each store.

    What is read apart has an entry of its own: a variable of transformWithState each.
    """
    # Stores report to a coordinator, which a session makes when it is first asked for its queries.
    spark._jsparkSession.streams()
    asked = reader(spark, "state-metadata")
    if batch is not None:
        asked = asked.option("batchId", str(batch))
    rows = [json.loads(row) for row in asked.load(checkpoint).toJSON().collectAsList()]
    return [(row, name, options) for row in rows for name, options in _parts(row)]


def reader(spark: Any, format: str) -> Any:
    """Return Spark's `DataFrameReader` of a format."""
    # Not through PySpark: its readers are guarded against the function's own.
    return spark._jsparkSession.read().format(format)


def _parts(store: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Return what is read apart of a store: a variable each, where an operator names some."""
    name = str(store["stateStoreName"])
    try:
        properties = json.loads(store.get("operatorProperties") or "{}")
    except ValueError:
        properties = {}
    variables = properties.get("stateVariables", ()) if isinstance(properties, dict) else ()
    named = [str(v["stateName"]) for v in variables if not str(v["stateName"]).startswith("$")]
    if named:
        return [(v, {"storeName": name, "stateVarName": v}) for v in named]
    return [(name, {"storeName": name})]


def _count(
    spark: Any, checkpoint: str, batch: int, store: dict[str, Any], options: dict[str, str]
) -> int | None:
    asked = reader(spark, "statestore").option("operatorId", str(store["operatorId"]))
    asked = asked.option("batchId", str(batch))
    for name, value in options.items():
        asked = asked.option(name, value)
    try:
        return int(asked.load(checkpoint).count())
    except Exception:  # a form of state that this reader doesn't know
        return None
