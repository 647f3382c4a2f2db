import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "parcel string, hub string, scan string, carrier string, weight_kg double, note string, ts timestamp"


def scans(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    per_hub = scans(spark).groupBy(F.window("ts", "10 minutes"), "hub").agg(F.count("*").alias("scans"))
    return per_hub.writeStream.outputMode("update").foreachBatch(publish)
