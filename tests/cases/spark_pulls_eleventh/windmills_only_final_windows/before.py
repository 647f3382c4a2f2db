import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "mill string, park string, kw double, wind double, measured timestamp"
MODE = "update"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    measured = spark.readStream.schema(SCHEMA).json(f"{LAKE}/windmills")
    parks = (
        measured.dropna(subset=["kw"])
        .withWatermark("measured", "20 minutes")
        .groupBy(F.window("measured", "30 minutes"), F.col("park"))
        .agg(F.avg("kw").alias("kw"), F.max("wind").alias("wind"), F.count("*").alias("readings"))
    )
    return parks.writeStream.outputMode(MODE).foreachBatch(publish)
