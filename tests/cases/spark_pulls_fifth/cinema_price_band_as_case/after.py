import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, film string, hall int, price decimal(6,2), booked timestamp"
BAND = "CASE WHEN price >= 12 THEN 'premium' WHEN price >= 8 THEN 'normal' ELSE 'cheap' END"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bookings")
    bands = (
        bookings.withColumn("band", F.expr(BAND))
        .groupBy("film", "band")
        .agg(F.count("*").alias("bookings"), F.sum("price").alias("takings"))
    )
    return bands.writeStream.outputMode("update").foreachBatch(publish)
