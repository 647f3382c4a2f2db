import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sitting string, room string, flags int, noted timestamp"


def build(spark):
    notes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/invigilators").withWatermark("noted", "30 minutes")
    sittings = (
        notes.dropDuplicates(["sitting", "flags", "noted"])
        .groupBy("sitting")
        .agg(F.max("flags").alias("flags"), F.count("*").alias("notes"), F.max("noted").alias("last"))
    )
    return sittings.writeStream.format("noop").outputMode("update")
