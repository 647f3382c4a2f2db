"""A user's own driver: three queries, watched. `driver_program.py FOLDER`, ends with its stdin."""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import headgate

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "true",
    "spark.log.level": "ERROR",
    "spark.sql.my.password": "hunter2",
}


def main() -> None:
    home = Path(sys.argv[1])
    (home / "in").mkdir()
    (home / "log").mkdir()
    (home / "in" / "1.json").write_text('{"k": "a", "n": 1}\n{"k": "b", "n": 2}\n')
    builder = SparkSession.builder.master("local[2]").appName("live-driver")
    builder = builder.config("spark.eventLog.dir", (home / "log").as_uri())
    builder = builder.config("spark.sql.warehouse.dir", str(home / "warehouse"))
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    watch = headgate.watch(spark, home / "watch")
    again = headgate.watch(spark, str(home / "watch"))
    rows = spark.readStream.schema("k string, n bigint").json(str(home / "in"))
    queries = start(rows, home)
    for query in queries[:2]:
        query.processAllAvailable()
    said = {
        "ui": spark.sparkContext.uiWebUrl,
        "application": spark.sparkContext.applicationId,
        "queries": {q.name: [q.id, q.runId] for q in queries},
        "same": again is watch,
        "problem": watch.problem,
    }
    print(json.dumps(said), flush=True)
    sys.stdin.read()


def start(rows, home: Path):
    def begin(frame, name, mode, **options):
        writer = frame.writeStream.format("noop").queryName(name).outputMode(mode)
        writer = writer.option("checkpointLocation", str(home / "checkpoints" / name))
        return writer.options(**options).trigger(processingTime="1 second").start()

    totals = rows.groupBy("k").agg(f.sum("n").alias("total"))
    boom = rows.select(f.expr("raise_error('kaboom')"))
    return (
        begin(totals, "totals", "update", password="hunter2"),
        begin(rows.select("n"), "copies", "append"),
        begin(boom, "boom", "append"),
    )


if __name__ == "__main__":
    main()
