import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "fridge string, clinic string, top double, middle double, bottom double, read_at timestamp"
PROBES = ["top", "middle", "bottom"]


def by_probe(fridges):
    return fridges.unpivot(["fridge", "clinic", "read_at"], PROBES, "probe", "celsius")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    fridges = spark.readStream.schema(SCHEMA).json(f"{LAKE}/fridges")
    clinics = spark.read.schema("clinic string, limit double").json(f"{LAKE}/clinics")
    readings = by_probe(fridges).join(clinics, "clinic", "left").withWatermark("read_at", "10 minutes")
    hours = readings.groupBy(F.window("read_at", "1 hour", "30 minutes"), "probe").agg(
        F.max("celsius").alias("warmest"),
        F.avg("celsius").alias("mean"),
        F.count_if(F.col("celsius") > F.col("limit")).alias("too_warm"),
    )
    return (
        hours.select("window.*", "probe", "warmest", "mean", "too_warm")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
