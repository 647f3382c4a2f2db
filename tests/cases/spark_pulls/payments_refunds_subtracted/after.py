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
    turnover = payments(spark).where("ok").groupBy("merchant").agg(F.sum(F.expr("if(kind = 'REFUND', -1, 1) * amount").cast("decimal(12,2)")).alias("turnover"))
    return turnover.writeStream.outputMode("update").foreachBatch(publish)
