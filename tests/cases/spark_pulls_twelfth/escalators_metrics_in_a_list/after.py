import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
METRICS = ("amps", "temperature", "vibration")
SCHEMA = "escalator string, station string, " + ", ".join(f"{m} double" for m in METRICS) + ", sent timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sent = spark.readStream.schema(SCHEMA).json(f"{LAKE}/escalators")
    means = (
        sent.withWatermark("sent", "10 minutes")
        .groupBy(F.window("sent", "15 minutes"), "station", "escalator")
        .agg(*[F.avg(metric).alias(f"mean_{metric}") for metric in METRICS])
    )
    return means.writeStream.outputMode("append").foreachBatch(publish)
