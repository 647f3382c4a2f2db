import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "rink string, sheet int, ice_f double, air_f double, measured timestamp"


def to_celsius(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        frame["ice"] = (frame["ice_f"] - 32) * 5 / 9
        frame["air"] = (frame["air_f"] - 32) * 5 / 9
        frame["sheet"] = frame["rink"] + "-" + frame["sheet"].astype("Int64").astype("string")
        yield frame[["sheet", "ice", "air", "measured"]]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    measured = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/curling_ice")
        .mapInPandas(to_celsius, "sheet string, ice double, air double, measured timestamp")
    )
    sheets = (
        measured.withWatermark("measured", "10 minutes")
        .groupBy(F.window("measured", "30 minutes"), "sheet")
        .agg(F.avg("ice").alias("ice"), F.max("air").alias("air"), F.count("*").alias("n"))
    )
    return sheets.writeStream.outputMode("update").foreachBatch(publish)
