import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
ITEM = "struct<kind: string, carat: int, grams: double>"
SCHEMA = f"loan string, shop string, item {ITEM}, lent decimal(8,2), pawned timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    loans = spark.readStream.schema(SCHEMA).json(f"{LAKE}/pawned_items").where("item.kind IS NOT NULL")
    once = loans.withWatermark("pawned", "20 minutes").dropDuplicatesWithinWatermark(["loan"])
    shops = once.groupBy(F.window("pawned", "2 hours"), "shop").agg(
        F.max_by("item", "lent").alias("item"), F.sum("lent").alias("lent"), F.count("*").alias("loans")
    )
    flat = shops.select("window", "shop", "item.kind", "item.grams", "lent", "loans")
    return flat.writeStream.outputMode("append").foreachBatch(publish)
