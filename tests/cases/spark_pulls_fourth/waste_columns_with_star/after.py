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
    weighed = (
        bins(spark)
        .withWatermark("weighed", "45 minutes")
        .select("*", F.to_date("weighed").alias("day"), (F.col("kg") / 1000).alias("tons"))
        .select("bin", "route", "kg", "weighed", "day", "tons")
        .dropDuplicatesWithinWatermark(["bin", "weighed"])
    )
    return weighed.writeStream.outputMode("append").foreachBatch(publish)
