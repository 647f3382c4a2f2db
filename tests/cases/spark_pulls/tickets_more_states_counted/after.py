import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, queue string, status string, prio int, ts timestamp"


def tickets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/tickets")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    active = tickets(spark).where(F.col("status").isin("new", "open", "waiting", "escalated"))
    per_team = active.groupBy("queue").agg(F.count("*").alias("n"), F.min("prio").alias("most_urgent"))
    return per_team.writeStream.outputMode("update").foreachBatch(publish)
