import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "airplay string, station string, seconds int, aired timestamp_ntz"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    airplays = spark.readStream.schema(SCHEMA).json(f"{LAKE}/local_airplays")
    hours = (
        airplays.where("seconds >= 30")
        .groupBy(F.window("aired", "1 hour"), "station")
        .agg(F.sum("seconds").alias("seconds"), F.count("*").alias("airplays"))
    )
    return (
        hours.select("window.start", "station", "seconds", "airplays")
        .writeStream.outputMode("update")
        .foreachBatch(publish)
    )
