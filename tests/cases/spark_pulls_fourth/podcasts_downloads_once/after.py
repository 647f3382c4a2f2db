import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "download string, show string, episode int, agent string, bytes long, country string, loaded timestamp"


def downloads(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/downloads")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    hours = (
        downloads(spark)
        .withWatermark("loaded", "30 minutes")
        .dropDuplicatesWithinWatermark(["download"])
        .groupBy(F.window("loaded", "30 minutes"), "country")
        .agg(F.count("*").alias("downloads"), F.sum("bytes").alias("bytes"))
        .select("window.start", "country", "downloads", "bytes")
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
