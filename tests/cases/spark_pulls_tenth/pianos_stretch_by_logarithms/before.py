import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "piano string, note int, ratio double, struck timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def stretch():
    """How much the octaves of an hour are stretched, all of them together."""
    return F.product("ratio")


def build(spark):
    struck = spark.readStream.schema(SCHEMA).json(f"{LAKE}/struck_notes").withWatermark("struck", "20 minutes")
    pianos = (
        struck.where("piano IS NOT NULL AND note BETWEEN 1 AND 88")
        .groupBy(F.window("struck", "1 hour").alias("hour"), "piano")
        .agg(stretch().alias("stretch"), F.count("ratio").alias("notes"))
    )
    return pianos.select(
        "hour.start", "piano", F.round("stretch", 6).alias("stretch"), "notes"
    ).writeStream.foreachBatch(publish)
