import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "court string, member string, slot timestamp, state string"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    changes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/court_changes").where("state <> 'free'")
    once = changes.dropDuplicates(["court", "member", "slot"])
    courts = once.groupBy("court").agg(F.count("*").alias("bookings"), F.max("slot").alias("last"))
    return courts.writeStream.outputMode("update").foreachBatch(publish)
