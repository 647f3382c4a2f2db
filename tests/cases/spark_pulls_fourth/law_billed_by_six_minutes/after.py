import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "entry long, lawyer string, matter string, minutes int, rate decimal(10,2), kind string, day date, noted timestamp"


def entries(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/entries")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


UNIT = 6


def build(spark):
    billed = (
        entries(spark)
        .where(F.col("kind") != "travel")
        .groupBy("matter")
        .agg(F.sum(F.ceil(F.col("minutes") / UNIT) * UNIT).alias("minutes"), F.max("day").alias("newest"))
    )
    return billed.writeStream.outputMode("update").foreachBatch(publish)
