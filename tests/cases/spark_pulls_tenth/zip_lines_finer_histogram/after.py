import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
RIDES = "ride string, line string, kilos double, kmh double, ended timestamp"
BINS = 6


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def speeds():
    return F.histogram_numeric("kmh", F.lit(BINS))


def build(spark):
    rides = spark.readStream.schema(RIDES).json(f"{LAKE}/rides_on_lines").withWatermark("ended", "30 minutes")
    lines = rides.groupBy(F.window("ended", "2 hours"), "line").agg(
        speeds().alias("speeds"), F.avg("kilos").alias("kilos")
    )
    return lines.writeStream.outputMode("append").foreachBatch(publish)
