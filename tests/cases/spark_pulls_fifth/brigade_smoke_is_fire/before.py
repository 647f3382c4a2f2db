import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "call string, station string, district string, kind string, crew int, raised timestamp"
CLASSES = {"fire": "F", "smoke": "T", "rescue": "T", "flood": "T"}


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def class_of(kind):
    pairs = [F.lit(word) for pair in CLASSES.items() for word in pair]
    return F.coalesce(F.create_map(*pairs)[kind], F.lit("X"))


def build(spark):
    calls = spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls").withWatermark("raised", "10 minutes")
    classes = (
        calls.groupBy(F.window("raised", "1 hour"), class_of(F.col("kind")).alias("class"))
        .agg(F.count("*").alias("calls"), F.avg("crew").alias("crew"))
        .select(F.col("window.start").alias("hour"), "class", "calls", F.round("crew", 1).alias("crew"))
    )
    return classes.writeStream.outputMode("update").foreachBatch(publish)
