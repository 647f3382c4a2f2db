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
        .withColumns(
            {
                "hive": F.upper("hive"),
                "apiary": F.coalesce("apiary", F.lit("unknown")),
                "grams": (F.col("kg") * 1000).cast("int"),
                "swarming": F.col("celsius") > 34,
            }
        )
        .select("hive", "apiary", "measured", "grams", "swarming")
    )
    once = shaped.dropDuplicates(["hive", "apiary", "grams"])
    return once.writeStream.foreachBatch(publish)
