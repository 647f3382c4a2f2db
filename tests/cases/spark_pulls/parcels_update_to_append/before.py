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
    hourly = (
        scans(spark)
        .withWatermark("ts", "10 minutes")
        .groupBy(F.window("ts", "5 minutes"), "carrier")
        .agg(F.count("*").alias("scans"))
    )
    return hourly.writeStream.outputMode("update").foreachBatch(publish)
