"""Settings of Spark for so few rows that its start, and not the work, takes the time."""

from __future__ import annotations

import json
from pathlib import Path

from scenes.spark_programs import event_log
from support.standalone_cluster import Cluster

# Compiling code for so few rows would cost more than it gives back.
SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.ui.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def small_spark(master: str = "local[2]", **more: str) -> str:
    """Return the tables of headgate.toml for it; `more` are further settings."""
    lines = (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in (SMALL | more).items())
    return "\n".join(("[spark]", f"master = {json.dumps(master)}", "[spark.config]", *lines, ""))


def spark_tables(folder: Path, cluster: Cluster | None = None) -> str:
    """Return the same for one whose programs log their events below `folder`."""
    more = (cluster.config if cluster else {}) | event_log(folder)
    return small_spark(cluster.master if cluster else "local[2]", **more)


def submit_options() -> str:
    """Return the same as options for `PYSPARK_SUBMIT_ARGS`."""
    return " ".join(f"--conf '{key}={value}'" for key, value in SMALL.items())
