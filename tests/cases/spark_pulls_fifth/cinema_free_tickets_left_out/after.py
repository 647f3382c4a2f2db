import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "booking string, film string, hall int, price decimal(6,2), booked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def paying(bookings):
    """Bookings that visitors come with."""
    return bookings.where(F.col("film").isNotNull() & (F.coalesce("price", F.lit(0)) > 0))


def build(spark):
    bookings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bookings").withWatermark("booked", "30 minutes")
    films = (
        paying(bookings)
        .groupBy(F.window("booked", "2 hours", "1 hour"), "film")
        .agg(F.count("booking").alias("visitors"))
        .selectExpr("window.start AS since", "film", "visitors")
    )
    return films.writeStream.outputMode("update").foreachBatch(publish)
