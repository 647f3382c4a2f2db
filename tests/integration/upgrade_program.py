"""The driver of a query whose code can be another one at its next start: `current` names it."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import headgate
from headgate.local.jars import spark_jars

folder = Path(sys.argv[1])
# The JVM outlives this process by a moment: both have the token on their command line.
os.environ["PYSPARK_SUBMIT_ARGS"] = f"--name {sys.argv[2]} pyspark-shell"
sys.path.insert(0, str(folder))
import jobs  # noqa: E402

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(map(str, spark_jars())))
    .config("spark.driver.memory", "512m")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    # Compiling code for so few rows would cost more than it gives back.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .getOrCreate()
)
headgate.watch(spark, folder / "watch")
query = getattr(jobs, (folder / "current").read_text().strip())(spark).start()
query.awaitTermination()
