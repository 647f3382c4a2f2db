import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "txn_id string, account string, merchant string, kind string, amount decimal(12,2), ok boolean, ts timestamp"


def payments(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/payments")


MEASURES = {"smallest": F.min, "largest": F.max, "mean": F.avg, "n": F.count}


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    measures = [function("amount").alias(name) for name, function in MEASURES.items()]
    stats = payments(spark).groupBy("merchant").agg(*measures)
    return stats.writeStream.outputMode("complete").foreachBatch(publish)
