"""The code of a team's query, as their file beside headgate.toml: counts of orders by city."""

SOURCE = """
import json
import os
import time
from pathlib import Path

from pyspark.sql import functions as F

GIVEN = json.loads((Path(__file__).parent / "query.json").read_text())
OUT = Path(__file__).parent / "out"


def orders(spark):
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", GIVEN["bootstrap"])
        .option("subscribe", GIVEN["topic"])
        .option("startingOffsets", "earliest")
        .option("minOffsetsPerTrigger", "1000000")
        .load()
    )
    poison = GIVEN.get("poison", "-")
    read = records.selectExpr(
        "CAST(key AS STRING) AS city", "partition", "offset", "timestamp",
        f"IF(CAST(value AS STRING) = '{poison}', raise_error('not an order'), 1) AS one",
    )
    counts = (
        read.withWatermark("timestamp", "30 days")
        .groupBy(F.window("timestamp", "10 minutes"), "city")
        .agg(F.sum("one").alias("n"), F.max("offset").alias("last"))
    )
    return (
        counts.writeStream.outputMode("update")
        .foreachBatch(keep)
        .trigger(processingTime="1 second")
        .option("checkpointLocation", "/nowhere/else")
        .start()
        .awaitTermination()
    )


def keep(rows, batch):
    found = [
        [str(r["window"]["start"].timestamp()), r["city"], r["n"], r["last"]]
        for r in rows.collect()
    ]
    OUT.mkdir(exist_ok=True)
    (OUT / f"{batch}.json").write_text(json.dumps(found))
    time.sleep(GIVEN.get("seconds", 0))
"""


def counted(records):
    """Return what the query must say of records of the log: by window and city, count and last."""
    found = {}
    for r in records:
        window = r.timestamp // 600_000 * 600_000
        key = (str(window / 1000), r.key.decode())
        n, last = found.get(key, (0, -1))
        found[key] = (n + 1, max(last, r.offset))
    return found


def written(folder):
    """Return what the query wrote: the newest row of each window and city."""
    import json

    found = {}
    for file in sorted((folder / "out").glob("*.json"), key=lambda f: int(f.stem)):
        for window, city, n, last in json.loads(file.read_text()):
            found[window, city] = (n, last)
    return found
