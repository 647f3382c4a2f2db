import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "station string, cm int, celsius double, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    depths = spark.readStream.schema(SCHEMA).json(f"{LAKE}/snow/*")
    once = depths.where("cm IS NOT NULL").withWatermark("at", "30 minutes").dropDuplicates(["station", "at"])
    stations = once.groupBy(F.window("at", "2 hours", "1 hour"), "station").agg(
        F.max("cm").alias("deepest"), F.expr("max(cm) - min(cm)").alias("change"), F.avg("celsius").alias("celsius")
    )
    return stations.writeStream.outputMode("append").foreachBatch(publish)
