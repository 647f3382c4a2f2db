import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "cow string, herd string, liters double, fat decimal(4,2), robot int, ts timestamp"


def milkings(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/milkings")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    hours = (
        milkings(spark)
        .withWatermark("ts", "1800 seconds")
        .groupBy(F.window(F.col("ts"), "60 minutes", "60 minutes"), F.col("robot"))
        .agg(F.sum("liters").alias("liters"), F.count("*").alias("milkings"))
        .select("window.start", "robot", "liters", "milkings")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
