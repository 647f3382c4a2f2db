import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tram string, line string, halt string, on_board int, at timestamp"
CROWDED = 80


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    doors = spark.readStream.schema(SCHEMA).json(f"{LAKE}/doors").withWatermark("at", "10 minutes")
    fullest = (
        doors.dropDuplicates(["tram", "halt", "at"])
        .groupBy(F.window("at", "20 minutes"), "line")
        .agg(F.max("on_board").alias("on_board"), F.max_by("halt", "on_board").alias("halt"))
    )
    crowded = fullest.where(F.col("on_board") >= CROWDED).select("window.start", "line", "halt", "on_board")
    return crowded.writeStream.outputMode("append").foreachBatch(publish)
