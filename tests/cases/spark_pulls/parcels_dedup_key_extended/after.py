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
    first_seen = scans(spark).where("scan = 'in'").dropDuplicates(["parcel", "hub"])
    return first_seen.select("parcel", "hub", "carrier").writeStream.outputMode("append").foreachBatch(publish)
