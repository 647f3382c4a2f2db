import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, pool string, age int, minutes int, came timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    visits = spark.readStream.schema(SCHEMA).json(f"{LAKE}/visits").withWatermark("came", "20 minutes")
    scanned = visits.where("ticket IS NOT NULL").dropDuplicates(["ticket", "came"])
    slots = (
        scanned.groupBy(F.window("came", "30 minutes"), "pool")
        .agg(F.count("*").alias("visitors"), F.avg("age").alias("age"))
        .select(F.col("window.start").alias("slot"), "pool", "visitors", "age")
    )
    return slots.writeStream.outputMode("append").foreachBatch(publish)
