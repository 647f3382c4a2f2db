import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "item string, customer string, site string, step string, kg decimal(6,2), scanned timestamp"
ONCE_PER = ["item", "step"]


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scans = (
        spark.readStream.schema(SCHEMA).json(f"{LAKE}/scans")
        .where(F.col("step").isNotNull() & F.col("item").startswith("i"))
        .withWatermark("scanned", "1 hour")
    )
    once = scans.dropDuplicates(ONCE_PER).select("item", "step", "site", "scanned")
    return once.writeStream.outputMode("append").foreachBatch(publish)
