import os

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "hive string, apiary string, kg double, celsius double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def known(readings: DataFrame) -> DataFrame:
    return readings.filter(F.col("kg").isNotNull() & (F.col("kg") > 0))


def gain_per_hive(readings: DataFrame) -> DataFrame:
    gain = F.max("kg") - F.min("kg")
    return readings.groupBy(F.window("measured", "30 minutes").alias("slot"), "apiary", "hive").agg(
        F.round(gain, 2).alias("gain"), F.count(F.lit(1)).alias("readings")
    )


def build(spark):
    readings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scales").withWatermark("measured", "15 minutes")
    gains = readings.transform(known).transform(gain_per_hive)
    shown = gains.select(F.col("slot.start").alias("slot"), "apiary", "hive", "gain", "readings")
    return shown.writeStream.outputMode("append").foreachBatch(publish)
