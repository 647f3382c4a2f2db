import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "sale string, shop string, pattern string, cents long, sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    sold = spark.readStream.schema(SCHEMA).json(f"{LAKE}/sold_quilts").withWatermark("sold", "30 minutes")
    once = sold.dropDuplicates(["sale", "sold"])
    shops = once.groupBy(F.window("sold", "1 hour"), "shop").agg(
        F.max_by(F.struct("pattern", "cents"), "sold").alias("newest"),
        F.max(F.struct("cents", "pattern", "sale")).alias("dearest"),
        F.sum("cents").alias("cents"),
    )
    shown = shops.select(
        "window",
        "shop",
        "newest.pattern",
        "newest.cents",
        F.col("dearest.sale").alias("dearest"),
        shops.cents.alias("sum"),
    )
    return shown.writeStream.outputMode("append").foreachBatch(publish)
