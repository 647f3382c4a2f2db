import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "receipt string, line int, machine string, city string, kind string, pieces int, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    returned = spark.readStream.schema(SCHEMA).json(f"{LAKE}/machines_of_cities")
    oslo = returned.where("city COLLATE UTF8_LCASE = 'oslo'").withWatermark("fed", "20 minutes")
    once = oslo.dropDuplicatesWithinWatermark(["receipt", "line"])
    kinds = once.groupBy(F.window("fed", "1 hour", "30 minutes"), "kind").agg(
        F.sum("pieces").alias("pieces"), F.min("city").alias("spelled")
    )
    return kinds.writeStream.outputMode("append").foreachBatch(publish)
