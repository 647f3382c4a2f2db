import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

IMPRESSIONS = "imp_id string, campaign string, cost double, ts timestamp"
CLICKS = "imp_id string, user string, ts timestamp"


def impressions(spark):
    return spark.readStream.schema(IMPRESSIONS).json(f"{LAKE}/imps").withWatermark("ts", "2 minutes")


def clicks(spark):
    return spark.readStream.schema(CLICKS).json(f"{LAKE}/clks").withWatermark("ts", "1 minute")


def build(spark):
    shown, clicked = impressions(spark).alias("i"), clicks(spark).alias("c")
    condition = (
        (F.col("i.imp_id") == F.col("c.imp_id"))
        & (F.col("c.ts") >= F.col("i.ts"))
        & (F.col("c.ts") <= F.col("i.ts") + F.expr("interval 5 minutes"))
    )
    out = shown.join(clicked, condition).select(
        "i.imp_id", "i.campaign", "c.user", "i.cost", F.col("c.ts").alias("click_ts")
    )
    return out.writeStream.outputMode("append").format("console")
