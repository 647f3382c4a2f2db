import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LAPS = "kart string, driver string, started timestamp, ended timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def driven(laps):
    seconds = F.unix_timestamp("ended") - F.unix_timestamp("started")
    return laps.withColumn("driven", seconds)


def build(spark):
    laps = spark.readStream.schema(LAPS).json(f"{LAKE}/laps_of_karts").withWatermark("started", "10 minutes")
    karts = driven(laps).groupBy("kart").agg(F.sum("driven").alias("driven"), F.count("driven").alias("laps"))
    shown = karts.select("kart", F.col("driven").alias("seconds"), "laps", (F.col("driven") > 300).alias("check"))
    return shown.writeStream.outputMode("update").foreachBatch(publish)
