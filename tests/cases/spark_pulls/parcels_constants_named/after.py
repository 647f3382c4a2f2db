import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "parcel string, hub string, scan string, carrier string, weight_kg double, note string, ts timestamp"


def scans(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans")


INBOUND = "in"
# Letters are of no interest to the hubs.
LIGHTEST_KG = 1


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    """Weight that comes into each hub, by carrier."""
    weight = F.coalesce(F.col("weight_kg"), F.lit(0))
    heavy = scans(spark).where((F.col("scan") == INBOUND) & (weight > LIGHTEST_KG))
    by_hub = heavy.groupBy("hub", "carrier").agg(F.count("*").alias("n"), F.sum("weight_kg").alias("kg"))
    return by_hub.writeStream.outputMode("update").trigger(processingTime="1 minute").foreachBatch(publish)
