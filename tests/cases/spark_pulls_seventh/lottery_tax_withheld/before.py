import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "ticket string, shop string, game string, stake decimal(8,2), prize decimal(10,2), bought timestamp"


def publish(batch, batch_id):
    batch.write.format("noop").mode("append").save()


def net(prizes):
    return prizes


def build(spark):
    tickets = spark.readStream.schema(SCHEMA).json(f"{LAKE}/paid_prizes").withWatermark("bought", "3 hours")
    once = tickets.dropDuplicates(["ticket", "shop"])
    shops = once.groupBy("shop").agg(
        F.sum("prize").alias("prizes"), F.sum("stake").alias("stake"), F.max("bought").alias("last")
    )
    paid = shops.select("shop", "stake", net(F.col("prizes")).alias("paid"), "last")
    return paid.writeStream.outputMode("update").foreachBatch(publish)
