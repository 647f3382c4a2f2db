import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "mmsi long, ship string, speed double, status string, area string, ts timestamp"


def positions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/positions")


def areas(spark):
    return spark.read.schema("area string, sea string").json(f"{LAKE}/areas")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    reported = positions(spark).where("speed > 0.5").alias("reported")
    known = areas(spark).alias("known")
    moving = reported.join(known, F.col("known.area") == F.col("reported.area"), "leftouter")
    seas = moving.groupBy("known.sea").agg(
        F.count("*").alias("reports"), F.max("reported.speed").alias("fastest")
    )
    return seas.writeStream.outputMode("update").foreachBatch(publish)
