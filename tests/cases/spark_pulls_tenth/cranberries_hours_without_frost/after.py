import os
from collections.abc import Iterator

import pandas as pd
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "probe string, bog string, celsius double, taken timestamp"
CORRECTED = {"p1": 0.4, "p3": -0.6}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def corrected(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        frame["celsius"] = frame["celsius"] + frame["probe"].map(CORRECTED).fillna(0.0)
        yield frame


def build(spark):
    taken = spark.readStream.schema(SCHEMA).json(f"{LAKE}/probes_of_bogs")
    right = taken.mapInPandas(corrected, SCHEMA).withWatermark("taken", "20 minutes")
    bogs = right.groupBy(F.window("taken", "1 hour"), "bog").agg(
        F.count_if(F.col("celsius") < 0).alias("frosts"), F.min("celsius").alias("coldest")
    )
    return bogs.writeStream.outputMode("append").foreachBatch(publish)
