import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "load string, pit string, truck string, stone string, tons double, loaded timestamp"
RSD = 0.01


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    loads = spark.readStream.schema(SCHEMA).json(f"{LAKE}/loads").na.fill("unknown", ["pit"])
    pits = loads.groupBy("pit").agg(
        F.approx_count_distinct("truck", rsd=RSD).alias("trucks"),
        F.sum("tons").alias("tons"),
    )
    return pits.writeStream.outputMode("update").foreachBatch(publish)
