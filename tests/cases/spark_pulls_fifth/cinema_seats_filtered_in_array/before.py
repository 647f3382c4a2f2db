import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, film string, seats array<struct<row:string,no:int>>, booked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bookings")
    seats = (
        bookings.withWatermark("booked", "20 minutes")
        .select("film", "booked", F.explode("seats").alias("seat"))
        .where(F.col("seat.row").isNotNull())
        .select("film", "booked", F.col("seat.row").alias("seat_row"), F.col("seat.no").alias("seat_no"))
    )
    sold = seats.groupBy(F.window("booked", "1 hour"), "film", "seat_row").agg(
        F.count("*").alias("sold"), F.max("seat_no").alias("last_seat")
    )
    return sold.writeStream.outputMode("append").foreachBatch(publish)
