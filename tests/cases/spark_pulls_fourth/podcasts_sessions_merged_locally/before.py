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
    sittings = (
        downloads(spark)
        .withWatermark("loaded", "10 minutes")
        .groupBy(F.session_window("loaded", "15 minutes"), "country")
        .agg(F.count("*").alias("downloads"), F.sum("bytes").alias("bytes"), F.max("episode").alias("latest"))
        .select("session_window.start", "session_window.end", "country", "downloads", "bytes", "latest")
    )
    return sittings.writeStream.outputMode("append").foreachBatch(publish)
