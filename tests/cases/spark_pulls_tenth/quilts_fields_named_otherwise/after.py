import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sale string, shop string, pattern string, cents long, sold timestamp"
NEWEST = "max_by(named_struct('name', pattern, 'price_cents', cents), sold) AS newest"
DEAREST = "max(named_struct('price_cents', cents, 'name', pattern, 'id', sale)) AS dearest"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sold = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sold_quilts").withWatermark("sold", "30 minutes")
    once = sold.dropDuplicates(["sale", "sold"])
    shops = once.groupBy(F.window("sold", "1 hour"), "shop").agg(
        F.expr(NEWEST), F.expr(DEAREST), F.expr("sum(cents) AS sum_cents")
    )
    shown = shops.select(
        "window",
        "shop",
        F.col("newest.name").alias("pattern"),
        F.col("newest.price_cents").alias("cents"),
        F.col("dearest.id").alias("dearest"),
        F.col("sum_cents").alias("sum"),
    )
    return shown.writeStream.outputMode("append").foreachBatch(publish)
