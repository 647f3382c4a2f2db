import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "load string, farmer string, crop string, kg double, moisture double, weighed timestamp"


def paid_kilos():
    too_wet = F.greatest(F.coalesce("moisture", F.lit(14.0)) - 14.0, F.lit(0.0))
    return F.col("kg") * (1 - too_wet / 100)


def build(spark):
    loads = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/grain_loads")
        .withWatermark("weighed", "30 minutes")
        .dropDuplicatesWithinWatermark(["load"])
    )
    prices = spark.read.schema("crop string, cents int").json(f"{LAKE}/crop_prices")
    paid = (
        loads.join(F.broadcast(prices), "crop")
        .groupBy(F.window("weighed", "3 hours"), "farmer")
        .agg(
            F.sum(paid_kilos()).alias("kg"),
            F.sum(paid_kilos() * F.col("cents")).alias("cents"),
            F.count("*").alias("loads"),
        )
    )
    return paid.writeStream.format("noop").outputMode("update")
