import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    per_site = (
        readings(spark)
        .withWatermark("ts", "10 minutes")
        .groupBy(F.window("ts", "10 minutes", "5 minutes"), "site", "state")
        .agg(F.count("*").alias("n"))
    )
    return per_site.writeStream.outputMode("update").foreachBatch(publish)
