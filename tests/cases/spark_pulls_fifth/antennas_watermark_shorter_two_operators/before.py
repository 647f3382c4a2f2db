import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "cell string, band string, dropped int, users int, measured timestamp"
LATENESS = "40 minutes"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    cells = spark.readStream.schema(SCHEMA).json(f"{LAKE}/cells")
    once = cells.withWatermark("measured", LATENESS).dropDuplicates(["cell", "measured"])
    quality = (
        once.groupBy(F.window("measured", "15 minutes"), "band")
        .agg(F.sum("dropped").alias("dropped"), F.sum("users").alias("users"))
        .select("window", "band", "dropped", (F.col("dropped") / F.col("users")).alias("rate"))
    )
    return quality.writeStream.outputMode("append").foreachBatch(publish)
