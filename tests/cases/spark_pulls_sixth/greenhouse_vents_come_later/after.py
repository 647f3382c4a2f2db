import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
READINGS = "bay string, celsius double, measured timestamp"
VENTS = "vent_bay string, degrees int, moved timestamp"
VENTS_LATE = "30 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    readings = spark.readStream.schema(READINGS).json(f"{LAKE}/bays").withWatermark("measured", "10 minutes")
    vents = spark.readStream.schema(VENTS).json(f"{LAKE}/vents").withWatermark("moved", VENTS_LATE)
    within = F.expr("bay = vent_bay AND moved BETWEEN measured AND measured + INTERVAL 15 MINUTES")
    opened = readings.join(vents, within, "left_outer").select("bay", "celsius", "measured", "degrees")
    hours = opened.groupBy(F.window("measured", "30 minutes"), "bay").agg(
        F.max("celsius").alias("warmest"), F.max("degrees").alias("widest"), F.count("*").alias("pairs")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
