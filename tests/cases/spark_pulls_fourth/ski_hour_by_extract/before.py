import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "card string, lift string, meters int, age tinyint, passed timestamp"


def passes(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/passes")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    hours = (
        passes(spark)
        .groupBy(F.hour("passed").alias("hour"), "lift")
        .agg(F.count("*").alias("passes"), F.min("age").alias("youngest"), F.sum("meters").alias("meters"))
    )
    return hours.writeStream.outputMode("update").foreachBatch(publish)
