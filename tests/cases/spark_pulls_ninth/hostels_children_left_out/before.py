import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BOOKINGS = "guest string, house string, age int, booked timestamp"
ARRIVALS = "guest string, bed string, paid double, came timestamp"
NEAR = "b.guest = a.guest AND came BETWEEN booked AND booked + INTERVAL 1 HOUR"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    booked = spark.readStream.schema(BOOKINGS).json(f"{LAKE}/hostel_bookings").withWatermark("booked", "30 minutes")
    came = spark.readStream.schema(ARRIVALS).json(f"{LAKE}/hostel_arrivals").withWatermark("came", "30 minutes")
    guests = booked.alias("b").join(came.alias("a"), F.expr(NEAR))
    houses = guests.groupBy(F.window("came", "1 hour"), "house").agg(
        F.count("*").alias("guests"), F.sum("paid").alias("paid"), F.min("age").alias("youngest")
    )
    return houses.writeStream.outputMode("append").foreachBatch(publish)
