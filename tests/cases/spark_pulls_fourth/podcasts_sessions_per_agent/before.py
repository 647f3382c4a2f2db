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
        .groupBy("show", F.session_window("loaded", "20 minutes"))
        .agg(F.count("*").alias("downloads"), F.min("bytes").alias("smallest"))
        .select("show", "session_window.start", "session_window.end", "downloads", "smallest")
    )
    return sittings.writeStream.outputMode("append").foreachBatch(publish)
