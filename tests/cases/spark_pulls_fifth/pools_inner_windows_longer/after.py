import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, pool string, age int, minutes int, came timestamp"
FINE, COARSE = "20 minutes", "1 hour"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/visits").withWatermark("came", "15 minutes")
    fine = visits.groupBy(F.window("came", FINE), "pool").agg(F.count("*").alias("visitors"))
    peaks = (
        fine.groupBy(F.window("window", COARSE).alias("hour"), "pool")
        .agg(F.max("visitors").alias("peak"), F.sum("visitors").alias("visitors"))
        .select("hour.start", "pool", "peak", "visitors")
    )
    return peaks.writeStream.outputMode("append").foreachBatch(publish)
