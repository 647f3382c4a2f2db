import os
import re

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "playerId string, courseId string, hole int, strokes int, playedAt timestamp"


def snake_case(df):
    """playerId -> player_id"""
    return df.toDF(*[re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower() for name in df.columns])


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    strokes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/golf_strokes").transform(snake_case)
    unique = strokes.withWatermark("played_at", "30 minutes").dropDuplicates(["player_id", "hole", "played_at"])
    courses = (
        unique.groupBy(F.window("played_at", "1 hour").alias("hour_of_play"), "course_id")
        .agg(F.sum("strokes").alias("total_strokes"), F.min("strokes").alias("best_hole"))
        .withColumn("from", F.col("hour_of_play.start"))
        .drop("hour_of_play")
        # The dashboard still reads these names.
        .withColumnsRenamed({"course_id": "courseId", "total_strokes": "totalStrokes", "best_hole": "bestHole"})
    )
    return courses.writeStream.outputMode("append").foreachBatch(publish)
