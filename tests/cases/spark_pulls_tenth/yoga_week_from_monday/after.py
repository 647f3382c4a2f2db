import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, studio string, minutes int, begins timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def weekly(bookings):
    return bookings.withColumn("day", F.weekday("begins"))


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/booked_lessons")
    days = (
        weekly(bookings.where("studio <> 'test'"))
        .groupBy("studio", "day")
        .agg(F.count("booking").alias("lessons"), F.sum("minutes").alias("minutes"))
    )
    return days.writeStream.outputMode("update").foreachBatch(publish)
