import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, play string, seats int, child boolean, booked timestamp"


def save(batch, batch_id):
    batch.write.mode("append").parquet(f"{LAKE}/out/puppet_bookings")


def build(spark):
    bookings = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/puppet_bookings")
        .where(F.col("seats").between(1, 12))
        .withWatermark("booked", "30 minutes")
        .dropDuplicatesWithinWatermark(["booking"])
    )
    return bookings.writeStream.foreachBatch(save)
