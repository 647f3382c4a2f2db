"""A driver that writes an event log: FOLDER CODEC ROLLING; it waits for a line before it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(folder: Path, codec: str, rolling: str) -> None:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "log").as_uri(),
        "spark.eventLog.compress": "true",
        "spark.eventLog.compression.codec": codec,
        "spark.eventLog.rolling.enabled": rolling,
    }
    builder = SparkSession.builder.master("local[1]").appName("live")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    (folder / "in").mkdir()
    (folder / "in" / "1.json").write_text('{"city": "Oslo", "price": 3}\n')
    rows = spark.readStream.schema("city string, price int").json(str(folder / "in"))
    counted = rows.filter("price > 1").groupBy("city").agg(F.sum("price").alias("total"))
    unstarted = counted._jdf.queryExecution()
    mode = spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("extended")
    (folder / "unstarted.txt").write_text(unstarted.explainString(mode))
    (folder / "logical.json").write_text(unstarted.analyzed().toJSON())
    writer = counted.writeStream.format("noop").outputMode("complete").queryName("cities")
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    query.processAllAvailable()
    (folder / "batch.txt").write_text(
        query._jsq.streamingQuery().lastExecution().explainString(mode)
    )
    told = {"id": query.id, "run": str(query.runId), "reports": len(query.recentProgress)}
    print(json.dumps(told), flush=True)
    sys.stdin.readline()
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
