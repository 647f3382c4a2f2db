import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "boat string, pier string, draught double, at_ms long"


def timed(pings):
    return pings.withColumn("at", F.timestamp_millis("at_ms"))


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    pings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/boat_pings").where("boat IS NOT NULL")
    stays = (
        timed(pings)
        .drop("at_ms")
        .withWatermark("at", "15 minutes")
        .dropDuplicates(["boat", "at"])
        .groupBy(F.session_window("at", "20 minutes"), "boat")
        .agg(
            F.count("*").alias("pings"),
            F.max("draught").alias("draught"),
            F.first("pier", ignorenulls=True).alias("pier"),
        )
    )
    return (
        stays.select("session_window.*", "boat", "pings", "draught")
        .writeStream.outputMode("append")
        .foreachBatch(publish)
    )
