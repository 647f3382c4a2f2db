import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "tank string, beer string, liters decimal(8,2), plato decimal(4,2), taken timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def extract(liters, plato):
    """Kilograms of sugar, at about a kilogram a liter."""
    return liters * plato / 100


def build(spark):
    samples = spark.readStream.schema(SCHEMA).json(f"{LAKE}/samples")
    sugar = samples.groupBy("beer").agg(
        F.sum(extract(F.col("liters"), F.col("plato"))).alias("extract_kg"), F.count("plato").alias("samples")
    )
    return sugar.writeStream.outputMode("update").foreachBatch(publish)
