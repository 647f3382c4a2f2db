import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "escalator string, station string, vibration double, temperature double, amps double, sent timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sent = spark.readStream.schema(SCHEMA).json(f"{LAKE}/escalators")
    means = (
        sent.withWatermark("sent", "10 minutes")
        .groupBy(F.window("sent", "15 minutes"), "station", "escalator")
        .agg(
            F.avg("vibration").alias("mean_vibration"),
            F.avg("temperature").alias("mean_temperature"),
            F.avg("amps").alias("mean_amps"),
        )
    )
    return means.writeStream.outputMode("append").foreachBatch(publish)
