import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "mmsi long, ship string, speed double, status string, area string, ts timestamp"


def positions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/positions")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    banded = positions(spark).withColumn("knots", F.floor("speed").cast("int"))
    bands = banded.groupBy("knots").agg(F.count("*").alias("reports"))
    return bands.writeStream.outputMode("update").foreachBatch(publish)
