import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LAUNCHES = "flight string, field string, launched timestamp"
LANDINGS = "flight string, km double, landed timestamp"
FLOWN = "l.flight = d.flight AND landed BETWEEN launched AND launched + INTERVAL 90 MINUTES"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def read(spark, folder, schema, time):
    return spark.readStream.schema(schema).json(f"{LAKE}/{folder}").withWatermark(time, "20 minutes")


def build(spark):
    launches = read(spark, "glider_launches", LAUNCHES, "launched").alias("l")
    landings = read(spark, "glider_landings", LANDINGS, "landed").alias("d")
    flights = launches.join(landings, F.expr(FLOWN)).select("l.flight", "field", "launched", "km")
    fields = flights.groupBy(F.window("launched", "1 hour"), "field").agg(
        F.count("*").alias("flights"), F.sum("km").alias("km")
    )
    return fields.writeStream.outputMode("append").foreachBatch(publish)
