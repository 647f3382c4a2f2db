import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "box int, swift string, flags int, bearing double, seen timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def boxes(seen):
    return seen.where(F.shiftRight("flags", 2) % 2 == 1).where(F.bitwiseNOT("flags") != -1)


def measures():
    return [
        F.approxCountDistinct("swift").alias("swifts"),
        F.max(F.toDegrees("bearing")).alias("bearing"),
        F.sum(F.shiftLeft("flags", 1)).alias("flags"),
    ]


def build(spark):
    seen = spark.readStream.schema(SCHEMA).json(f"{LAKE}/swifts_at_boxes").withWatermark("seen", "15 minutes")
    nests = boxes(seen).groupBy(F.window("seen", "1 hour", "30 minutes"), "box").agg(*measures())
    return nests.writeStream.outputMode("append").foreachBatch(publish)
