import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, salon string, status string, price decimal(7,2), changed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/salon_bookings").withWatermark("changed", "3 hours")
    once = bookings.dropDuplicatesWithinWatermark(["booking"]).where("status <> 'cancelled'")
    salons = once.groupBy(F.window("changed", "2 hours"), "salon").agg(
        F.count("*").alias("bookings"), F.sum("price").alias("price"), F.mode("status", True).alias("usual")
    )
    return salons.writeStream.outputMode("append").foreachBatch(publish)
