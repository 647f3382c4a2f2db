import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "sku string, warehouse string, kind string, qty int, at timestamp"


def moves(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/moves")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    stock = moves(spark).groupBy("sku").agg(F.sum("qty").alias("pieces"), F.count("*").alias("moves"))
    return stock.writeStream.outputMode("update").foreachBatch(publish)
