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
    c = clicks(spark).withColumnRenamed("imp_id", "click_imp").withColumnRenamed("ts", "click_ts")
    matched = impressions(spark).join(
        c,
        F.expr("imp_id = click_imp AND click_ts >= ts AND click_ts <= ts + interval 5 minutes"),
    )
    out = matched.select("imp_id", "campaign", "user", "cost", "click_ts")
    return out.writeStream.outputMode("append").format("console")
