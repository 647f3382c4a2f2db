import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "order string, shop string, stems int, price decimal(7,2), ordered timestamp"
MORNING = 11


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def part(at):
    hour = F.date_part(F.lit("hour"), at)
    return F.when(hour < MORNING, "morning").when(hour < 17, "afternoon").otherwise("evening")


def build(spark):
    orders = spark.readStream.schema(SCHEMA).json(f"{LAKE}/bouquets").withWatermark("ordered", "30 minutes")
    once = orders.dropDuplicatesWithinWatermark(["order"])
    parts = once.groupBy(F.window("ordered", "6 hours"), "shop", part(F.col("ordered")).alias("part")).agg(
        F.sum("stems").alias("stems"), F.sum("price").alias("price"), F.count("*").alias("orders")
    )
    return parts.writeStream.outputMode("append").foreachBatch(publish)
