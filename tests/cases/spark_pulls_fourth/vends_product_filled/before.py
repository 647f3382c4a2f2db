import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

SCHEMA = "machine string, slot int, product string, coins array<int>, paid_with string, sold timestamp"


def vends(spark):
    return spark.readStream.schema(SCHEMA).json(f"{LAKE}/vends")


def publish(rows, batch_id):
    """Hand the rows of a batch to those who asked for them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    products = (
        vends(spark)
        .groupBy(F.coalesce("product", F.lit("unknown")).alias("product"), "slot")
        .agg(F.count("*").alias("sold"), F.sum(F.size("coins")).alias("coins"), F.max(F.array_max("coins")).alias("largest"))
    )
    return products.writeStream.outputMode("update").foreachBatch(publish)
