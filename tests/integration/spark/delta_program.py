"""A query that writes to a real Delta table: `delta_program.py FOLDER JARS`.

Batch 0 and 1 are written; the checkpoint as it was after batch 0 is kept in `rewound`. Then the
query is started on that copy: batch 1 comes again, with more rows. What each evidence says of the
query is written to FOLDER, what Delta did with the batch to stdout.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import headgate

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Delta reads its own log by a job of 50 tasks otherwise.
    "spark.databricks.delta.snapshotPartitions": "1",
}


def session(folder: Path, jars: str) -> SparkSession:
    (folder / "log").mkdir()
    builder = SparkSession.builder.master("local[1]").appName("delta")
    builder = builder.config("spark.jars", jars)
    builder = builder.config("spark.eventLog.dir", (folder / "log").as_uri())
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def feed(folder: Path, number: int) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / f"{number}.json").write_text(f'{{"city": "Oslo", "price": {number}}}\n')


def run(spark: SparkSession, folder: Path, checkpoint: str) -> Any:
    """Take what is there and stop; returns the query."""
    rows = spark.readStream.schema("city string, price int").json(str(folder / "in"))
    writer = rows.writeStream.format("delta").queryName("prices").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / checkpoint))
    query = writer.start(str(folder / "table"))
    query.awaitTermination()
    return query


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(folder, sys.argv[2])
    watch = headgate.watch(spark, folder / "watch")
    feed(folder, 1)
    run(spark, folder, "checkpoint")
    shutil.copytree(folder / "checkpoint", folder / "rewound")
    feed(folder, 2)
    query = run(spark, folder, "checkpoint")
    watch.close()
    (folder / "explain.txt").write_text(query._jsq.explainInternal(True))
    reports = [json.loads(p.json) for p in query.recentProgress]
    (folder / "progress.json").write_text(json.dumps(reports))
    feed(folder, 3)
    run(spark, folder, "rewound")
    found = spark.read.format("delta").load(str(folder / "table")).collect()
    print(json.dumps(sorted(row.price for row in found)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
