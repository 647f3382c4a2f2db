import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tram string, line string, halt string, boarded int, alighted int, on_board int, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    doors = spark.readStream.schema(SCHEMA).json(f"{LAKE}/doors").withWatermark("at", "20 minutes")
    lines = (
        doors.dropDuplicates(["tram", "at"])
        .groupBy("line")
        .agg(F.sum("boarded").alias("boarded"), F.sum("alighted").alias("alighted"), F.max("on_board").alias("fullest"))
    )
    return lines.writeStream.outputMode("update").foreachBatch(publish)
