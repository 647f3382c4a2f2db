import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "feeder string, substation string, mw decimal(8,3), hz double, ts timestamp"


def loads(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/loads")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    stations = loads(spark).groupBy("substation").agg(F.sum("mw").alias("mw"), F.min("hz").alias("hz"))
    alarms = stations.where("mw > 65")
    return alarms.writeStream.outputMode("update").foreachBatch(publish)
