import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = """
    box string,
    truck string,
    celsius double,
    measured timestamp
"""


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    boxes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/cold_boxes").withWatermark("measured", "15 minutes")
    trucks = (
        boxes.dropDuplicatesWithinWatermark(["box", "measured"])
        .groupBy(F.window("measured", "40 minutes"), "truck", "box")
        .agg(F.max("celsius").alias("warmest"), F.min("celsius").alias("coldest"))
        .where("warmest > 8 OR coldest < 2")
    )
    return trucks.writeStream.outputMode("append").foreachBatch(publish)
