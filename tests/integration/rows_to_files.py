"""A small query for the tests: writes a topic's records as JSON files, and tells of its batches."""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.local.jars import spark_jars

bootstrap, topic, checkpoint, out, progress = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(map(str, spark_jars())))
    .config("spark.driver.memory", "512m")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    .config("spark.ui.enabled", "false")
    # Compiling code for so few rows would cost more than it gives back.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .getOrCreate()
)
query = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("subscribe", topic)
    .option("startingOffsets", "earliest")
    .load()
    .selectExpr("partition", "offset", "CAST(value AS STRING) AS value")
    .writeStream.format("json")
    .option("checkpointLocation", checkpoint)
    .trigger(processingTime="1 second")
    .start(out)
)
while query.isActive:
    if query.lastProgress and not Path(progress).exists():
        Path(progress).write_text(query.lastProgress.json)
    time.sleep(0.3)
query.awaitTermination()
