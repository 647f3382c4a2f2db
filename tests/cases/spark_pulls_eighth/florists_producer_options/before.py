import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
BROKER = os.environ.get("BROKER", "broker:9092")
SCHEMA = "order string, shop string, price decimal(7,2), tip decimal(5,2), paid timestamp"


def build(spark):
    orders = spark.readStream.schema(SCHEMA).json(f"{LAKE}/paid_bouquets").withWatermark("paid", "20 minutes")
    once = orders.dropDuplicatesWithinWatermark(["order"])
    shops = once.groupBy(F.window("paid", "1 hour"), "shop").agg(
        F.sum(F.expr("price + coalesce(tip, 0)")).alias("paid"), F.count("tip").alias("tips")
    )
    value = F.to_json(F.struct(F.col("window.start").alias("hour"), "shop", "paid", "tips"))
    return (
        shops.select(F.col("shop").alias("key"), value.alias("value"))
        .writeStream.outputMode("append")
        .format("kafka")
        .option("kafka.bootstrap.servers", BROKER)
        .option("topic", "florist-hours")
    )
