import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BOOKED = "ticket string, show string, price int, booked timestamp"
SCANNED = "ticket string, door string, entered timestamp"
NEAR = "b.ticket = s.ticket AND entered BETWEEN booked AND booked + INTERVAL 1 HOUR"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    booked = spark.readStream.schema(BOOKED).json(f"{LAKE}/booked_tickets").withWatermark("booked", "15 minutes")
    scanned = spark.readStream.schema(SCANNED).json(f"{LAKE}/scanned_tickets").withWatermark("entered", "15 minutes")
    visits = booked.alias("b").join(scanned.alias("s"), F.expr(NEAR)).select("b.*", "s.door", "s.entered")
    visits = visits.dropDuplicates(["ticket", "entered"])
    visits = visits.select("show", "ticket", "door", "price", "entered")
    return visits.writeStream.outputMode("append").foreachBatch(publish)
