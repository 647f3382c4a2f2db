import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "hive string, apiary string, kg double, celsius double, measured timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    scales = spark.readStream.schema(SCHEMA).json(f"{LAKE}/scales")
    shaped = (
        scales.withWatermark("measured", "30 minutes")
        .withColumn("hive", F.upper("hive"))
        .withColumn("apiary", F.coalesce("apiary", F.lit("unknown")))
        .withColumn("grams", (F.col("kg") * 1000).cast("int"))
        .withColumn("swarming", F.col("celsius") > 34)
        .drop("kg", "celsius")
    )
    once = shaped.dropDuplicates(["hive", "apiary", "grams"])
    return once.select("hive", "apiary", "measured", "grams", "swarming").writeStream.foreachBatch(publish)
