import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")
SCHEMA = "coupon string, shop string, cents int, tags map<string,string>, redeemed timestamp"
PERSONAL = F.array_contains(F.map_keys("tags"), "customer")


def build(spark):
    redeemed = (
        spark.readStream.schema(SCHEMA)
        .json(f"{LAKE}/redeemed")
        .withWatermark("redeemed", "1 hour")
        .dropDuplicatesWithinWatermark(["coupon"])
    )
    shops = redeemed.groupBy("shop", PERSONAL.alias("personal")).agg(
        F.sum("cents").alias("cents"), F.count("*").alias("coupons"), F.max_by("coupon", "cents").alias("dearest")
    )
    return shops.writeStream.format("noop").outputMode("update")
