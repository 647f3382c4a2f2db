import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, queue string, status string, prio int, ts timestamp"


def tickets(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/tickets")


def upsert(rows, batch):
    """Write one file of changes a batch."""
    rows.withColumn("batch", F.lit(batch)).coalesce(1).write.mode("append").json(f"{LAKE}/out/queues")


def build(spark):
    per_queue = tickets(spark).groupBy("queue").agg(F.count("*").alias("n"), F.max("prio").alias("prio"))
    return per_queue.writeStream.outputMode("update").foreachBatch(upsert)
