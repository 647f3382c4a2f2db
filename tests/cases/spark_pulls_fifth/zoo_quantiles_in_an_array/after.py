import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "feeding string, animal string, species string, grams int, weight double, fed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    feedings = spark.readStream.schema(SCHEMA).json(f"{LAKE}/feedings").withWatermark("fed", "20 minutes")
    usual = feedings.groupBy(F.window("fed", "1 hour"), "species").agg(
        F.percentile_approx("grams", [0.5, 0.9], 200).alias("quantiles"),
        F.count("grams").alias("feedings"),
    )
    shown = usual.select(
        "window.start", "species", F.col("quantiles")[0].alias("median"), F.col("quantiles")[1].alias("p90"), "feedings"
    )
    return shown.writeStream.outputMode("append").foreachBatch(publish)
