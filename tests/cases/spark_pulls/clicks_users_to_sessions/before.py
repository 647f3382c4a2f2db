import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "user_id string, session string, url string, event string, duration_ms long, agent string, ts timestamp"


def clicks(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/clicks")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    reach = clicks(spark).groupBy("event").agg(F.approx_count_distinct("user_id").alias("reach"))
    return reach.writeStream.outputMode("update").foreachBatch(publish)
