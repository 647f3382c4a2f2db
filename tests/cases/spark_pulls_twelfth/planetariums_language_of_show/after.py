import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BOOKED = "ticket string, show string, seat string, language string, booked timestamp"
ENTERED = "ticket_no string, door string, entered timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def stream(spark, schema, name, time, delay):
    return spark.readStream.schema(schema).json(f"{LAKE}/{name}").withWatermark(time, delay)


def build(spark):
    booked = stream(spark, BOOKED, "planetarium_tickets", "booked", "15 minutes")
    entered = stream(spark, ENTERED, "planetarium_doors", "entered", "15 minutes")
    visits = booked.join(
        entered,
        (F.col("ticket") == F.col("ticket_no"))
        & (F.col("entered") >= F.col("booked"))
        & (F.col("entered") <= F.col("booked") + F.expr("INTERVAL 90 MINUTES")),
    )
    return (
        visits.select("ticket", "show", "language", "seat", "door", "entered")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
