import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "order string, shop string, flower string, stems int, sold timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    lines = spark.readStream.schema(SCHEMA).option("sep", ";").csv(f"{LAKE}/florist_exports")
    sales = lines.where("order <> 'order'").withWatermark("sold", "20 minutes")
    once = sales.dropDuplicatesWithinWatermark(["order", "flower"])
    flowers = once.groupBy(F.window("sold", "1 hour"), "flower").agg(
        F.sum("stems").alias("stems"), F.approx_count_distinct("shop").alias("shops"), F.max("stems").alias("largest")
    )
    return flowers.writeStream.outputMode("append").foreachBatch(publish)
