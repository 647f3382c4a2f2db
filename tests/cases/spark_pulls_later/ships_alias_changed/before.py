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
    p, a = positions(spark).alias("p"), areas(spark).alias("a")
    moving = p.where("p.speed > 0.5").join(a, F.col("p.area") == F.col("a.area"), "left")
    seas = moving.groupBy("a.sea").agg(F.count("*").alias("reports"), F.max("p.speed").alias("fastest"))
    return seas.writeStream.outputMode("update").foreachBatch(publish)
