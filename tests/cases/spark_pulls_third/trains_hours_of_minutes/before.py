import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "train string, station string, planned timestamp, actual timestamp"


def stops(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/stops")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    delay = F.unix_timestamp("actual") - F.unix_timestamp("planned")
    short = (
        stops(spark)
        .where("actual is not null")
        .withWatermark("actual", "10 minutes")
        .groupBy(F.window("actual", "10 minutes"), "station")
        .agg(F.max(delay).alias("worst"))
    )
    hours = (
        short.groupBy(F.window("window", "1 hour"), "station")
        .agg(F.avg("worst").alias("worst"), F.count("*").alias("parts"))
        .select("window.start", "station", "worst", "parts")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
