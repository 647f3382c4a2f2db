import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "mix string, shop string, price string, litres double, mixed timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def build(spark):
    mixes = spark.readStream.schema(SCHEMA).json(f"{LAKE}/paint_mixes").where("price IS NOT NULL")
    priced = mixes.withColumn("price", F.regexp_replace("price", ",", "").cast("decimal(10,2)"))
    once = priced.withWatermark("mixed", "20 minutes").dropDuplicatesWithinWatermark(["mix"])
    shops = once.groupBy(F.window("mixed", "1 hour"), "shop").agg(
        F.sum("price").alias("takings"), F.sum("litres").alias("litres")
    )
    return shops.writeStream.outputMode("append").foreachBatch(publish)
