import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "machine string, at string, pieces int"


def shifts(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/shift")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    timed = shifts(spark).withColumn("ts", F.to_utc_timestamp(F.to_timestamp("at", "yyyy-MM-dd HH:mm:ss"), "Europe/Berlin"))
    hourly = (
        timed.withWatermark("ts", "30 minutes")
        .groupBy(F.window("ts", "1 hour"), "machine")
        .agg(F.sum("pieces").alias("pieces"))
    )
    return hourly.writeStream.outputMode("append").foreachBatch(publish)
