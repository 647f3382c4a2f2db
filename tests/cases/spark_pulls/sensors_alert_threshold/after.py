import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "device string, site string, temp double, humidity int, state string, ts timestamp"


def readings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/readings")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    peaks = readings(spark).groupBy("device", "site").agg(F.max("temp").alias("peak"), F.avg("temp").alias("mean"))
    alerts = peaks.where("peak - mean > 1").withColumn("level", F.when(F.expr("peak - mean > 5"), "CRIT").otherwise("WARN"))
    return alerts.writeStream.outputMode("update").foreachBatch(publish)
