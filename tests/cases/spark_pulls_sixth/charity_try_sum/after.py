import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "gift string, appeal string, channel string, cents long, given timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    gifts = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gifts").withWatermark("given", "20 minutes")
    hours = (
        gifts.dropDuplicatesWithinWatermark(["gift"])
        .groupBy(F.window("given", "1 hour"), "appeal")
        .agg(F.try_sum("cents").alias("cents"), F.max("cents").alias("largest"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
