import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "visit string, salon string, service string, price decimal(7,2), ended timestamp"
KEYS = ["day", "salon", "service"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/salon_visits").where("salon IS NOT NULL")
    once = visits.withWatermark("ended", "1 hour").dropDuplicatesWithinWatermark(["visit"])
    days = once.select(F.to_date("ended").alias("day"), "salon", "service", "price")
    takings = days.groupingSets([KEYS, KEYS[:2], KEYS[:1]], *KEYS).agg(
        F.count("*").alias("visits"), F.sum("price").alias("takings")
    )
    return takings.writeStream.outputMode("update").foreachBatch(publish)
