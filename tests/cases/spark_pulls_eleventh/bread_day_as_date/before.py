import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "batch string, shop string, bread string, loaves int, baked timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("overwrite").save()


def build(spark):
    baked = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bread_baked")
    days = (
        baked.withColumn("day", F.date_format("baked", "yyyy-MM-dd"))
        .groupBy("day", "bread")
        .agg(F.sum("loaves").alias("loaves"), F.min("baked").alias("first_oven"))
        .orderBy("day", "bread")
    )
    return days.writeStream.outputMode("complete").foreachBatch(publish)
