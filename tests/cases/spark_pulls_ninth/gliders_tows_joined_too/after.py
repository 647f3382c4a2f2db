import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LAUNCHES = "flight string, field string, launched timestamp"
LANDINGS = "flight string, km double, landed timestamp"
TOWS = "flight string, plane string, released timestamp"
TOWED = "l.flight = t.flight AND released BETWEEN launched AND launched + INTERVAL 15 MINUTES"
FLOWN = "l.flight = d.flight AND landed BETWEEN launched AND launched + INTERVAL 90 MINUTES"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def read(spark, folder, schema, time):
    return spark.readStream.schema(schema).json(f"{LAKE}/{folder}").withWatermark(time, "20 minutes")


def build(spark):
    launches = read(spark, "glider_launches", LAUNCHES, "launched").alias("l")
    landings = read(spark, "glider_landings", LANDINGS, "landed").alias("d")
    tows = read(spark, "glider_tows", TOWS, "released").alias("t")
    flown = launches.join(landings, F.expr(FLOWN)).join(tows, F.expr(TOWED), "leftOuter")
    flights = flown.select("l.flight", "field", "launched", "km", "plane")
    fields = flights.groupBy(F.window("launched", "1 hour"), "field").agg(
        F.count("*").alias("flights"), F.sum("km").alias("km"), F.count("plane").alias("towed")
    )
    return fields.writeStream.outputMode("append").foreachBatch(publish)
