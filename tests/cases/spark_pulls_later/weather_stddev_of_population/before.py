import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "station string, temp string, rain string, wind string, observed string"


def observations(spark, folder="observations"):
    return spark.readStream.schema(SCHEMA).csv(f"{LAKE}/{folder}")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    read = observations(spark).select("station", F.col("wind").cast("double").alias("wind"))
    stations = read.groupBy("station").agg(F.stddev_samp("wind").alias("spread"))
    return stations.writeStream.outputMode("update").foreachBatch(publish)
