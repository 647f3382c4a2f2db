import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "listener string, track struct<id:string,artist:string,genre:string>, seconds int, tags map<string,string>, ts timestamp"


def plays(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/plays")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    spark.conf.set("spark.sql.streaming.stateStore.compression.codec", "zstd")
    artists = plays(spark).groupBy("track.artist").agg(F.sum("seconds").alias("seconds"))
    return artists.writeStream.outputMode("update").foreachBatch(publish)
