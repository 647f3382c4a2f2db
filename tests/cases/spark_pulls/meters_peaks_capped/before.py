import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "meter string, site string, kwh double, tariff string, ts timestamp"


def meters(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/meters")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    usage = meters(spark).groupBy("meter").agg(F.sum("kwh").alias("kwh"), F.count("*").alias("n"))
    return usage.writeStream.outputMode("update").foreachBatch(publish)
