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
    band = F.when(F.col("fare") < 15, "short").when(F.col("fare") < 25, "city").otherwise("long")
    counts = rides(spark).groupBy(band.alias("band")).agg(F.count("*").alias("rides"), F.sum("fare").alias("fares"))
    return counts.writeStream.outputMode("update").foreachBatch(publish)
