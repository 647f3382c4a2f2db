import os
from typing import NamedTuple

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "patient string, sensor string, mmol double, measured timestamp"


class Settings(NamedTuple):
    """What doctors may want otherwise."""

    least: float = 1.0
    most: float = 35.0
    high: float = 6.0
    late: str = "20 minutes"
    gap: str = "15 minutes"
    readings: int = 2


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def valid(read, wanted):
    possible = F.col("mmol").between(wanted.least, wanted.most)
    return read.where(possible).dropDuplicates(["patient", "sensor", "measured"])


def episodes(readings, wanted):
    high = readings.where(F.col("mmol") > wanted.high)
    found = high.groupBy(F.session_window("measured", wanted.gap), "patient").agg(
        F.count("*").alias("measured"), F.max("mmol").alias("peak"), F.avg("mmol").alias("mean")
    )
    return found.where(F.col("measured") >= wanted.readings)


def build(spark, wanted=Settings()):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/glucose").withWatermark("measured", wanted.late)
    return episodes(valid(read, wanted), wanted).writeStream.outputMode("append").foreachBatch(publish)
