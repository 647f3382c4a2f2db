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
    open_work = tickets(spark).where("status <> 'solved'")
    per_queue = open_work.groupBy(F.col("queue").alias("team"), F.col("prio").alias("priority")).agg(F.count("*").alias("updates"))
    return per_queue.writeStream.outputMode("complete").foreachBatch(publish)
