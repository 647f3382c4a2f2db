import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "patient string, sensor string, mmol double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/glucose").withWatermark("measured", "20 minutes")
    valid = read.where("mmol BETWEEN 1.0 AND 35.0").dropDuplicates(["patient", "sensor", "measured"])
    high = valid.where("mmol > 6.0").groupBy(F.session_window("measured", "15 minutes"), "patient").agg(
        F.count("*").alias("measured"), F.max("mmol").alias("peak"), F.avg("mmol").alias("mean")
    )
    long = high.where("measured >= 2")
    return long.writeStream.outputMode("append").foreachBatch(publish)
