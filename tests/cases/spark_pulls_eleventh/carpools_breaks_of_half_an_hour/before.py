import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "car string, driver string, km double, speed double, sent timestamp"
BREAK = "15 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sent = spark.readStream.schema(SCHEMA).json(f"{LAKE}/carpools")
    drives = (
        sent.where("car IS NOT NULL")
        .withWatermark("sent", "10 minutes")
        .groupBy(F.session_window("sent", BREAK).alias("drive"), "car")
        .agg(F.sum("km").alias("km"), F.max("speed").alias("top_speed"), F.count("*").alias("messages"))
        .select("car", "drive.start", "drive.end", "km", "top_speed", "messages")
    )
    return drives.writeStream.outputMode("append").foreachBatch(publish)
