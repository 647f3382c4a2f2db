import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "card string, tram string, line string, tapped timestamp"
CARDS = F.approx_count_distinct("card")


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    taps = spark.readStream.schema(SCHEMA).json(f"{LAKE}/taps").withWatermark("tapped", "20 minutes")
    lines = (
        taps.dropDuplicatesWithinWatermark(["card", "tram"])
        .groupBy(F.window("tapped", "1 hour"), "line")
        .agg(CARDS.alias("cards"), F.count("*").alias("taps"))
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
