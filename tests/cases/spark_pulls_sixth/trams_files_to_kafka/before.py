import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tram string, line string, boarded int, at timestamp"


def doors(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/doors")


def build(spark):
    lines = (
        doors(spark)
        .withWatermark("at", "20 minutes")
        .groupBy(F.window("at", "1 hour"), "line")
        .agg(F.sum("boarded").alias("boarded"), F.count("*").alias("doors"))
    )
    return lines.writeStream.format("noop").outputMode("update")
