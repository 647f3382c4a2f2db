import os

from pyspark.sql import functions as F

LAKE = os.environ.get("LAKE", "/lake")

IMPRESSIONS = "imp_id string, campaign string, cost double, ts timestamp"
CLICKS = "imp_id string, user string, ts timestamp"


def impressions(spark):
    return spark.readStream.schema(IMPRESSIONS).json(f"{LAKE}/imps").withWatermark("ts", "2 minutes")


def clicks(spark):
    return spark.readStream.schema(CLICKS).json(f"{LAKE}/clks").withWatermark("ts", "1 minute")


def publish(rows, batch_id):
    """Hand the rows of a batch to the service that shows them."""
    rows.write.format("noop").mode("append").save()


def build(spark):
    shown = impressions(spark).where("cost >= 0.02")
    clicked = clicks(spark).withColumnsRenamed({"imp_id": "click_imp", "ts": "click_ts"})
    joined = shown.join(clicked, F.expr("imp_id = click_imp AND click_ts BETWEEN ts AND ts + interval 10 minutes"))
    return joined.select("campaign", "imp_id", "user").writeStream.foreachBatch(publish)
