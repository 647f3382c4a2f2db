import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "load string, pit string, truck string, stone string, tons double, loaded timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def hours(column):
    return F.window(column, "1 hour", "15 minutes")


def build(spark):
    loads = spark.readStream.schema(SCHEMA).json(f"{LAKE}/loads").withWatermark("loaded", "20 minutes")
    carried = (
        loads.where("tons > 0")
        .groupBy(hours("loaded").alias("hour"), "stone")
        .agg(F.sum("tons").alias("tons"), F.max("tons").alias("heaviest"))
        .select(F.col("hour.start").alias("since"), "stone", "tons", "heaviest")
    )
    return carried.writeStream.outputMode("append").foreachBatch(publish)
