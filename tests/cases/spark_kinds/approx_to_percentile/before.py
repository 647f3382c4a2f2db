import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "station string, kind string, level double, visits bigint"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    rows = spark.readStream.schema(SCHEMA).json(f"{LAKE}/gauges")
    totals = rows.groupBy("station").agg(
        F.count("*").alias("rows"), F.expr("percentile_approx(level, 0.5)").alias("value"), F.max("level").alias("highest")
    )
    return totals.writeStream.outputMode("update").foreachBatch(publish)
