"""A Spark session over a checkpoint's state, for programs that read it and rebuild it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.spark_jobs.capture_query import settings_in
from headgate.spark_jobs.own_process import end, end_with_parent, redirect

_CONF = {
    # A store that is loaded is also looked after: nothing may be tidied up in what is only read.
    "spark.sql.streaming.stateStore.maintenanceInterval": "7d",
    "spark.sql.shuffle.partitions": "4",
}


def run(work: Callable[[Any, dict[str, Any]], Any]) -> None:
    """Do `work(spark, wish)`; `wish` is the JSON file that is the only argument.

    What it returns, or `{"error", "condition"}` of what it raised, is written to `outcome`.
    """
    end_with_parent()
    wish = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    redirect(Path(wish["scratch"]) / "spark.log")
    try:
        found = work(_session(wish), wish)
    except Exception as error:
        found = {"error": _reason(error), "condition": _condition(error)}
    draft = Path(wish["outcome"] + ".part")
    draft.write_text(json.dumps(found), encoding="utf-8")
    draft.replace(wish["outcome"])
    end()


def _session(wish: dict[str, Any]) -> Any:
    from pyspark.sql import SparkSession

    scratch = Path(wish["scratch"])
    builder = SparkSession.builder.master("local[2]").appName("headgate-state")
    places = {
        # The engine takes it from the session, not from the checkpoint.
        "spark.sql.streaming.stateStore.checkpointFormatVersion": str(wish["format"]),
    }
    for key, value in (settings_in(scratch) | _CONF | places).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    # Stores report to a coordinator, which a session makes when it is first asked for its queries.
    spark._jsparkSession.streams()
    return spark


def read_store(
    spark: Any, checkpoint: str, batch: int, operator: int, options: dict[str, str]
) -> Any:
    """Return a store, or a variable of it, at the end of a batch as a DataFrame."""
    asked = spark.read.format("statestore").option("operatorId", operator)
    asked = asked.option("batchId", batch)
    for name, value in options.items():
        asked = asked.option(name, value)
    return asked.load(checkpoint)


def _reason(error: Exception) -> str:
    """Return the first line of the deepest cause: the ones around it say only that it failed.

    Some, like the end of a file that was cut off, say nothing beside their class.
    """
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    said = str((java.getMessage() or java.toString()) if java is not None else error)
    return said.partition("\n")[0][:400]


def _condition(error: Exception) -> str | None:
    named = getattr(error, "getCondition", None)
    return named() if named else None
