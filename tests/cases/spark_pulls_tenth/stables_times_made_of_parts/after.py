import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "horse string, year int, month int, day int, hour int, minute int, km double"
PARTS = ["year", "month", "day", "hour", "minute"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rides = spark.readStream.schema(SCHEMA).json(f"{LAKE}/rides_of_horses")
    timed = rides.withColumn("ridden", F.try_make_timestamp(*(F.col(part) for part in PARTS), F.lit(0))).drop(*PARTS)
    once = timed.withWatermark("ridden", "20 minutes").dropDuplicates(["horse", "ridden"])
    horses = once.groupBy(F.window("ridden", "1 hour"), "horse").agg(
        F.sum("km").alias("km"), F.min("ridden").alias("from"), F.max("ridden").alias("to")
    )
    return horses.writeStream.outputMode("append").foreachBatch(publish)
