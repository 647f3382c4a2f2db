import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
STARTS = "flight string, balloon string, site_m int, started timestamp"
LANDINGS = "flight string, site_m int, landed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def lands():
    return F.expr("""
        s.flight = l.flight
        AND l.landed >= s.started
        AND l.landed <= s.started + INTERVAL 90 MINUTES
        AND l.site_m < s.site_m
    """)


def build(spark):
    starts = spark.readStream.schema(STARTS).json(f"{LAKE}/starts_of_balloons").withWatermark("started", "15 minutes")
    landings = spark.readStream.schema(LANDINGS).json(f"{LAKE}/landings").withWatermark("landed", "15 minutes")
    flights = starts.alias("s").join(landings.alias("l"), lands(), "left_outer")
    shown = flights.selectExpr("s.flight", "balloon", "s.site_m AS from_m", "l.site_m AS to_m", "started", "landed")
    return shown.writeStream.outputMode("append").foreachBatch(publish)
