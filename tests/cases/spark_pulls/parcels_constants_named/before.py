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
    heavy = scans(spark).where("scan = 'in' and coalesce(weight_kg, 0) > 1")
    by_hub = heavy.groupBy("hub", "carrier").agg(F.count("*").alias("n"), F.sum("weight_kg").alias("kg"))
    return by_hub.writeStream.outputMode("update").trigger(processingTime="1 minute").foreachBatch(publish)
