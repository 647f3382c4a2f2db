import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "mix string, shop string, colour string, litres double, mixed timestamp"
COLOURS = ["white", "black", "cream"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def litres_of(colour):
    return F.sum(F.when(F.lower("colour") == colour, F.col("litres")).otherwise(0.0)).alias(colour)


def build(spark):
    mixes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/mixed_paint").withWatermark("mixed", "20 minutes")
    once = mixes.dropDuplicatesWithinWatermark(["mix", "shop"])
    shops = once.groupBy(F.window("mixed", "2 hours"), "shop").agg(*[litres_of(colour) for colour in COLOURS])
    return shops.writeStream.outputMode("append").foreachBatch(publish)
