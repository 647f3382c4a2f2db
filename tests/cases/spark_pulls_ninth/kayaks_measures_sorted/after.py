import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "trip string, jetty string, minutes int, guests int, returned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def measures():
    return {
        "trips": F.count("*"),
        "minutes": F.sum("minutes"),
        "longest": F.max("minutes"),
        "guests": F.sum("guests"),
    }


def build(spark):
    trips = spark.readStream.schema(SCHEMA).json(f"{LAKE}/kayak_trips").withWatermark("returned", "20 minutes")
    once = trips.dropDuplicatesWithinWatermark(["trip"])
    jetties = once.groupBy(F.window("returned", "1 hour"), "jetty").agg(
        *(measure.alias(name) for name, measure in sorted(measures().items()))
    )
    return jetties.writeStream.outputMode("append").foreachBatch(publish)
