import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "ticket string, museum string, kind string, price decimal(8,2), groups array<string>, entered timestamp"


def admissions(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/admissions")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    halves = (
        admissions(spark)
        .withWatermark("entered", "20 minutes")
        .filter(F.col("museum").isNotNull())
        .groupBy(F.window("entered", "30 minutes"), "kind")
        .agg(F.count("*").alias("visitors"), F.sum("price").alias("takings"))
        .filter(F.col("visitors") > 1)
        .select(F.col("window.start").alias("start"), "kind", "visitors", "takings")
    )
    return halves.writeStream.outputMode("append").foreachBatch(publish)
