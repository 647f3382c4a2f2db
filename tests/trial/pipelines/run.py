"""Runs one Spark pipeline, as `python run.py MODULE` does in the folder of settings.json."""

import importlib
import json
import os
import sys
from pathlib import Path

import headgate

FOLDER = Path(__file__).parent
SETTINGS = json.loads((FOLDER / "settings.json").read_text())


def main():
    from pyspark.sql import SparkSession

    checkpoint = os.environ.get("HEADGATE_CHECKPOINT") or SETTINGS["checkpoint"]
    builder = SparkSession.builder.master("local[1]").appName(sys.argv[1])
    for key, value in SETTINGS["spark"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    headgate.watch(spark, str(FOLDER / "watch"))
    writer = importlib.import_module(sys.argv[1]).build(spark)
    writer.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    main()
