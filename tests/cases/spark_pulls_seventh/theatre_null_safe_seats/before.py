import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BOOKED = "show string, seat string, price int, booked timestamp"
ENTERED = "show string, seat string, door string, entered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def same_seat(left, right):
    return (left == right) | (left.isNull() & right.isNull())


def build(spark):
    booked = spark.readStream.schema(BOOKED).json(f"{LAKE}/booked_seats").alias("b")
    entered = spark.readStream.schema(ENTERED).json(f"{LAKE}/entered_seats").alias("e")
    booked, entered = booked.withWatermark("booked", "15 minutes"), entered.withWatermark("entered", "15 minutes")
    matched = booked.join(
        entered,
        (F.col("b.show") == F.col("e.show"))
        & same_seat(F.col("b.seat"), F.col("e.seat"))
        & F.expr("entered BETWEEN booked AND booked + INTERVAL 1 HOUR"),
    )
    doors = matched.groupBy(F.window("entered", "1 hour"), "door").agg(
        F.count("*").alias("visits"), F.sum("price").alias("price")
    )
    return doors.writeStream.outputMode("append").foreachBatch(publish)
