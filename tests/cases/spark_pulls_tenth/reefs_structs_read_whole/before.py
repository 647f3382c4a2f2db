import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
DIVES = "dive string, diver string, place struct<reef: string, depth: int, lat: double>, down timestamp"
NOTES = "dive string, kind string, number int, noted timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    dives = spark.readStream.schema(DIVES).json(f"{LAKE}/dives").withWatermark("down", "20 minutes").alias("d")
    notes = (
        spark.readStream.schema(NOTES).json(f"{LAKE}/notes_of_divers").withWatermark("noted", "20 minutes").alias("n")
    )
    near = F.expr("d.dive = n.dive AND n.noted BETWEEN d.down AND d.down + INTERVAL 1 HOUR")
    reefs = dives.join(notes, near).select("d.place.reef", "d.place.depth", "n.kind", "n.number", "n.noted")
    return reefs.writeStream.outputMode("append").foreachBatch(publish)
