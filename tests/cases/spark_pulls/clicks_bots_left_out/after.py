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
    clean = clicks(spark).where("event in ('view', 'click') and not agent rlike '(?i)bot' and duration_ms is not null").select("user_id", "url", "duration_ms", "ts")
    return clean.writeStream.outputMode("append").foreachBatch(publish)
