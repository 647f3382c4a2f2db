import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "sku string, warehouse string, kind string, qty int, at timestamp"


def moves(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/moves")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


COMES_IN = ("in", "return")


def build(spark):
    moved = moves(spark)
    change = (
        F.when(F.col("kind").isin(*COMES_IN), F.col("qty"))
        .when(F.col("kind") == "out", -F.col("qty"))
        .otherwise(0)
    )
    stock = moved.groupBy("sku").agg(F.sum(change).alias("pieces"), F.max("at").alias("moved"))
    return stock.writeStream.outputMode("update").foreachBatch(publish)
