"""The program that has Spark's own state reader load every store of a checkpoint at a batch.

It runs in a process of its own. `outcome` is a JSON list of `{"operator", "store", "rows",
"error"}`, with one entry for each store, or state variable of transformWithState.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from headgate.spark_jobs.capture_query import settings_in
from headgate.spark_jobs.own_process import end, end_with_parent, redirect
from headgate.spark_jobs.state_rows import reader, stores

_NOT_READABLE = "STDS_"
_CONF = {
    # A store that is loaded is also looked after: nothing may be tidied up in what is only read.
    "spark.sql.streaming.stateStore.maintenanceInterval": "7d",
}


def main() -> None:
    """Read once, as the JSON file that is the only argument says."""
    end_with_parent()
    wish = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scratch = Path(wish["scratch"])
    redirect(scratch / "spark.log")
    found = list(_read(_session(scratch, wish["format"]), wish["checkpoint"], int(wish["batch"])))
    draft = Path(wish["outcome"] + ".part")
    draft.write_text(json.dumps(found), encoding="utf-8")
    draft.replace(wish["outcome"])
    end()


def _session(scratch: Path, format: int) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[4]").appName("headgate-read-state")
    places = {
        "spark.driver.memory": f"{_memory()}m",
        "spark.sql.streaming.stateStore.checkpointFormatVersion": str(format),
    }
    for key, value in (settings_in(scratch) | _CONF | places).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _memory() -> int:
    """Return how many MiB the JVM may take: the HDFS-backed provider holds partitions in memory."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError):
        whole = 0
    return min(max(whole // 4, 1024), 16 << 10)


def _read(spark: Any, checkpoint: str, batch: int) -> Any:
    for store, name, options in stores(spark, checkpoint, batch):
        rows, error = None, None
        try:
            rows = _count(spark, checkpoint, batch, store, options)
        except Exception as caught:
            error = _reason(caught)
        readable = error is None or _NOT_READABLE not in error
        yield {
            "operator": int(store["operatorId"]),
            "store": name,
            "rows": rows,
            "error": error if readable else None,
        }


def _count(spark: Any, checkpoint: str, batch: int, store: Any, options: dict[str, str]) -> int:
    asked = reader(spark, "statestore").option("batchId", str(batch))
    asked = asked.option("operatorId", str(store["operatorId"]))
    for name, value in options.items():
        asked = asked.option(name, value)
    # Every row is decoded, not only counted: a damaged value is found here.
    return int(asked.load(checkpoint).rdd().count())


def _reason(error: Exception) -> str:
    """Return the first line of the deepest cause: the ones around it say only that it failed."""
    java = getattr(error, "java_exception", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    said = str(java.getMessage() if java is not None else error)
    return said.partition("\n")[0][:300]


if __name__ == "__main__":
    main()
