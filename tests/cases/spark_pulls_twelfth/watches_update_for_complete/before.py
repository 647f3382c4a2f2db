import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "repair string, workshop string, brand string, hours double, finished timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("overwrite").save()


def build(spark):
    repairs = spark.readStream.schema(SCHEMA).json(f"{LAKE}/watch_repairs")
    brands = repairs.groupBy("workshop", "brand").agg(
        F.count("*").alias("repairs"),
        F.avg("hours").alias("mean_hours"),
        F.max("finished").alias("last"),
    )
    return brands.writeStream.outputMode("complete").foreachBatch(publish)
