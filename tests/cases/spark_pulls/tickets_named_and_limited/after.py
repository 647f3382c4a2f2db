import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, queue string, status string, prio int, ts timestamp"


def tickets(spark):
    return spark.readStream.option("maxFilesPerTrigger", 5).schema(SCHEMA).json(f"{LAKE}/tickets")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    latest = tickets(spark).groupBy("ticket").agg(F.max_by("status", "ts").alias("status"), F.max("ts").alias("ts"))
    return latest.writeStream.queryName("tickets-latest").outputMode("update").foreachBatch(publish)
