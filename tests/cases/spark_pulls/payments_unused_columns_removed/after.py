import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "txn_id string, account string, merchant string, kind string, amount decimal(12,2), ok boolean, ts timestamp"


def payments(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/payments")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    per_kind = payments(spark).groupBy("kind", "ok").agg(F.sum("amount").alias("amount"), F.count("*").alias("n"))
    return per_kind.writeStream.outputMode("update").foreachBatch(publish)
