import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ride string, zone string, fare double, minutes int, ts timestamp"


def rides(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/rides")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    zones = rides(spark).groupBy("zone").agg(F.sum("minutes").alias("minutes"))
    return zones.writeStream.outputMode("update").foreachBatch(publish)
