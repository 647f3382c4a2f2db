import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
LAPS = "kart string, driver string, started timestamp, ended timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def driven(laps):
    return laps.withColumn("driven", F.col("ended") - F.col("started"))


def build(spark):
    laps = spark.readStream.schema(LAPS).json(f"{LAKE}/laps_of_karts").withWatermark("started", "10 minutes")
    karts = driven(laps).groupBy("kart").agg(F.sum("driven").alias("driven"), F.count("driven").alias("laps"))
    shown = karts.select(
        "kart",
        F.expr("timestampdiff(SECOND, TIMESTAMP '1970-01-01', TIMESTAMP '1970-01-01' + driven)").alias("seconds"),
        "laps",
        F.expr("driven > INTERVAL '5' MINUTE").alias("check"),
    )
    return shown.writeStream.outputMode("update").foreachBatch(publish)
