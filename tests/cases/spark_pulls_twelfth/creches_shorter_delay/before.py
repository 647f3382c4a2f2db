import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
CONFIG = {"path": "creche_doors", "delay": "40 minutes", "window": "30 minutes"}
SCHEMA = "creche string, door string, direction string, at timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    passed = spark.readStream.schema(SCHEMA).json(f"{LAKE}/{CONFIG['path']}")
    halves = (
        passed.withWatermark("at", CONFIG["delay"])
        .groupBy(F.window("at", CONFIG["window"]), "creche")
        .agg(
            F.count(F.when(F.col("direction") == "in", 1)).alias("came"),
            F.count(F.when(F.col("direction") == "out", 1)).alias("went"),
        )
    )
    return halves.writeStream.outputMode("append").foreachBatch(publish)
