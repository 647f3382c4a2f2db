import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LIT = "lamp string, street string, watts double, lit timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def lamps(spark):
    reader = spark.readStream.schema(LIT)
    return reader.json(f"{LAKE}/lit_lamps")


def build(spark):
    lit = lamps(spark).withWatermark("lit", "30 minutes")
    streets = lit.groupBy(F.window("lit", "1 hour"), "street").agg(
        F.sum("watts").alias("watts"), F.count("lamp").alias("lamps")
    )
    return streets.writeStream.outputMode("append").foreachBatch(publish)
