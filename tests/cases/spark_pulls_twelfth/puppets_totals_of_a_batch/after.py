import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, play string, seats int, child boolean, booked timestamp"


def totals(batch):
    return batch.groupBy("play").agg(F.sum("seats").alias("seats"), F.count("*").alias("bookings"))


def save(batch, batch_id):
    batch.persist()
    batch.write.mode("append").parquet(f"{LAKE}/out/puppet_bookings")
    totals(batch).withColumn("batch_id", F.lit(batch_id)).write.mode("append").parquet(f"{LAKE}/out/puppet_totals")
    batch.unpersist()


def build(spark):
    bookings = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/puppet_bookings")
        .where(F.col("seats").between(1, 12))
        .withWatermark("booked", "30 minutes")
        .dropDuplicatesWithinWatermark(["booking"])
    )
    return bookings.writeStream.foreachBatch(save)
