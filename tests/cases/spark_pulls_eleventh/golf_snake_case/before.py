import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "playerId string, courseId string, hole int, strokes int, playedAt timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    strokes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/golf_strokes")
    unique = strokes.withWatermark("playedAt", "30 minutes").dropDuplicates(["playerId", "hole", "playedAt"])
    courses = (
        unique.groupBy(F.window("playedAt", "1 hour").alias("hourOfPlay"), "courseId")
        .agg(F.sum("strokes").alias("totalStrokes"), F.min("strokes").alias("bestHole"))
        .withColumn("from", F.col("hourOfPlay.start"))
        .drop("hourOfPlay")
    )
    return courses.writeStream.outputMode("append").foreachBatch(publish)
