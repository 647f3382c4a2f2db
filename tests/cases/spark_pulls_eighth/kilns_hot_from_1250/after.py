import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "kiln string, burner int, celsius double, gas double, measured timestamp"
HOT = "mean >= 1250"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    read = spark.readStream.schema(SCHEMA).json(f"{LAKE}/kiln_burners").withWatermark("measured", "10 minutes")
    tens = read.groupBy(F.window("measured", "10 minutes"), "kiln").agg(
        F.avg("celsius").alias("mean"), F.sum("gas").alias("gas")
    )
    hours = (
        tens.where(HOT)
        .groupBy(F.window(F.window_time("window"), "2 hours"), "kiln")
        .agg(F.count("*").alias("hot"), F.sum("gas").alias("gas"), F.max("mean").alias("highest"))
    )
    return hours.writeStream.outputMode("append").foreachBatch(publish)
