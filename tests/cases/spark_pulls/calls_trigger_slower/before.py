import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "caller string, callee string, cell string, seconds int, roaming boolean, ts timestamp"


def calls(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/calls")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    longest = calls(spark).groupBy("caller").agg(F.max("seconds").alias("longest"))
    return longest.writeStream.outputMode("update").trigger(processingTime="10 seconds").foreachBatch(publish)
