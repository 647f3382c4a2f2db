import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "wheel string, sort string, cellar string, grams long, weighed timestamp, sent timestamp"
TIME = "weighed"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    wheels = spark.readStream.schema(SCHEMA).json(f"{LAKE}/weighed_wheels").withWatermark(TIME, "30 minutes")
    once = wheels.dropDuplicates(["wheel", TIME])
    cellars = once.groupBy(F.window(TIME, "1 hour"), "cellar").agg(
        F.sum("grams").alias("grams"), F.count("*").alias("wheels"), F.min("wheel").alias("wheel")
    )
    return cellars.writeStream.outputMode("append").foreachBatch(publish)
