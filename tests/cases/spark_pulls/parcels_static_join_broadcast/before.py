import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "parcel string, hub string, scan string, carrier string, weight_kg double, note string, ts timestamp"


def scans(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans")


def hubs(spark):
    return spark.read.schema("hub string, city string, country string").json(f"{LAKE}/hubs")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    located = scans(spark).join(hubs(spark), "hub", "left")
    per_city = located.groupBy("city").agg(F.count("*").alias("scans"), F.max("ts").alias("latest"))
    return per_city.writeStream.outputMode("update").foreachBatch(publish)
