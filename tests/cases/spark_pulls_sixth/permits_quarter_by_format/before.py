import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "permit string, district string, kind string, cost decimal(10,2), granted timestamp"
QUARTER = F.concat(F.year("granted").cast("string"), F.lit("-Q"), F.quarter("granted").cast("string"))


def build(spark):
    granted = spark.readStream.schema(SCHEMA).json(f"{LAKE}/granted").where("cost IS NOT NULL")
    quarters = (
        granted.select(QUARTER.alias("quarter"), "district", "cost", "kind")
        .groupBy("quarter", "district")
        .agg(F.sum("cost").alias("cost"), F.avg("cost").alias("mean"), F.count("kind").alias("permits"))
        .orderBy("quarter", "district")
    )
    return quarters.writeStream.format("console").outputMode("complete")
